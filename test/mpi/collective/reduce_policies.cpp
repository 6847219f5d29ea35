// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// env.eager: OMPI_MCA_btl_vader_eager_limit=256 OMPI_MCA_btl_self_eager_limit=256
#include <papcoll/analysis.hpp>
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>

#include "../../support/own_schedulers.hpp"
#include "../../support/reduce_calls.hpp"

namespace mpi = boost::mpi;

namespace {

template <class Policy>
void promises(mpi::communicator const& comm, Policy const& policy) {
    reduce_calls::promises(comm, comm.rank(), comm.size(), policy);
}

} // namespace

TEST_CASE("reduce by circulant") {
    mpi::communicator const world;
    promises(world, papcoll::circulant{});
    promises(world, papcoll::circulant{.block_bytes = 520});
}

TEST_CASE("reduce by schedulers of one's own") {
    mpi::communicator const world;
    promises(world, own_schedulers::to_the_owners{});
    promises(world, papcoll::reversed(own_schedulers::round_the_ring{}));
}

TEST_CASE("reduce by the MPI library") { promises(mpi::communicator(), papcoll::native{}); }

TEST_CASE("reduce by circulant on sub-communicators in reversed order") {
    mpi::communicator const world;
    promises(world.split(world.rank() % 3 == 1 ? 1 : 0, -world.rank()), papcoll::circulant{});
}
