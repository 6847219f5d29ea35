// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// env.single: PAPCOLL_TEST_THREADS=single
// env.eager: OMPI_MCA_btl_vader_eager_limit=256 OMPI_MCA_btl_self_eager_limit=256
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>

#include "../../support/own_schedulers.hpp"
#include "../../support/random_reduction.hpp"
#include "../../support/reduce_scatter_suite.hpp"

namespace mpi = boost::mpi;

namespace {

template <class Policy>
void promises(mpi::communicator const& comm, Policy const& policy) {
    reduce_scatter_suite::promises(comm, comm.rank(), comm.size(), policy);
}

} // namespace

TEST_CASE("reduce_scatter by circulant") {
    mpi::communicator const world;
    promises(world, papcoll::circulant{});
    promises(world, papcoll::circulant{.block_bytes = 520});
    reduce_scatter_suite::forms(world, world.rank(), world.size(), papcoll::circulant{});
    reduce_scatter_suite::blocks(world, world.rank(), world.size(), papcoll::circulant{});
    reduce_scatter_suite::blocks(world, world.rank(), world.size(), papcoll::automatic{});
}

TEST_CASE("reduce_scatter of long parts among short ones") {
    mpi::communicator const world;
    reduce_scatter_suite::long_parts(world, world.rank(), world.size(), papcoll::circulant{});
}

TEST_CASE("reduce_scatter by schedulers of one's own") {
    mpi::communicator const world;
    using detours = random_reduction;
    promises(world, own_schedulers::to_the_owners{});
    promises(world, papcoll::scheduled<detours>{.algorithm = {5}, .segments = 2});
}

TEST_CASE("reduce_scatter by the MPI library") {
    mpi::communicator const world;
    promises(world, papcoll::native{});
    reduce_scatter_suite::forms(world, world.rank(), world.size(), papcoll::native{});
    reduce_scatter_suite::blocks(world, world.rank(), world.size(), papcoll::native{});
}

TEST_CASE("reduce_scatter on sub-communicators in reversed order") {
    mpi::communicator const world;
    promises(world.split(world.rank() % 3 == 1 ? 1 : 0, -world.rank()), papcoll::circulant{});
}

TEST_CASE("reduce_scatter: mistakes and disagreements") {
    mpi::communicator const world;
    auto const part = world.split(0);
    reduce_scatter_suite::bad_arguments(part, part.rank(), part.size());
    reduce_scatter_suite::agreed_checks(part, part.rank(), part.size());
}
