// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// env.single: PAPCOLL_TEST_THREADS=single
// env.eager: OMPI_MCA_btl_vader_eager_limit=256 OMPI_MCA_btl_self_eager_limit=256
#include <papcoll/analysis.hpp>
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>

#include "../../support/all_gather_suite.hpp"
#include "../../support/own_schedulers.hpp"
#include "../../support/random_reduction.hpp"

namespace mpi = boost::mpi;

namespace {

template <class Policy>
void promises(mpi::communicator const& comm, Policy const& policy) {
    all_gather_suite::promises(comm, comm.rank(), comm.size(), policy);
}

} // namespace

TEST_CASE("all_gather by circulant") {
    mpi::communicator const world;
    promises(world, papcoll::circulant{});
    promises(world, papcoll::circulant{.block_bytes = 520});
    promises(world, papcoll::dissemination{});
    promises(world, papcoll::dissemination{.radix = 3});
    all_gather_suite::forms(world, world.rank(), world.size(), papcoll::circulant{});
}

TEST_CASE("all_gather by schedulers of one's own") {
    mpi::communicator const world;
    using detours = papcoll::reversed_scheduler<random_reduction>;
    promises(world, own_schedulers::round_the_ring{});
    promises(world, papcoll::scheduled<detours>{.algorithm = {{5}}, .segments = 2});
}

TEST_CASE("all_gather by the MPI library") {
    mpi::communicator const world;
    promises(world, papcoll::native{});
    all_gather_suite::forms(world, world.rank(), world.size(), papcoll::native{});
}

TEST_CASE("all_gather on sub-communicators in reversed order") {
    mpi::communicator const world;
    promises(world.split(world.rank() % 3 == 1 ? 1 : 0, -world.rank()), papcoll::circulant{});
}

TEST_CASE("all_gather: mistakes and disagreements") {
    mpi::communicator const world;
    auto const part = world.split(0);
    all_gather_suite::bad_arguments(part, part.rank(), part.size());
    all_gather_suite::agreed_checks(part, part.rank(), part.size());
}
