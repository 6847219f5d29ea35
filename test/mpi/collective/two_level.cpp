// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// env.eager: OMPI_MCA_btl_vader_eager_limit=256 OMPI_MCA_btl_self_eager_limit=256
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>

#include "../../support/two_level_suite.hpp"

namespace mpi = boost::mpi;
namespace suite = two_level_suite;

TEST_CASE("two levels: broadcast and reduce") {
    mpi::communicator const world;
    suite::broadcasts(world, world.rank(), world.size());
    suite::reductions(world, world.rank(), world.size());
}

TEST_CASE("two levels: all_gather, reduce_scatter and all_reduce") {
    mpi::communicator const world;
    suite::gathers_and_scatters(world, world.rank(), world.size());
    suite::all_reductions(world, world.rank(), world.size());
}

TEST_CASE("two levels on sub-communicators in reversed order, and mistakes") {
    mpi::communicator const world;
    auto const part = world.split(world.rank() % 3 == 1 ? 1 : 0, -world.rank());
    suite::reductions(part, part.rank(), part.size());
    suite::mistakes(part);
}

TEST_CASE("ranks that can share memory are on one node") {
    mpi::communicator const world;
    papcoll::attach(world);
    MPI_Comm shared = MPI_COMM_NULL;
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, world.rank(), MPI_INFO_NULL, &shared);
    int first = world.rank();
    MPI_Bcast(&first, 1, MPI_INT, 0, shared);
    MPI_Comm_free(&shared);
    auto const context = papcoll::context_of(world);
    auto const& nodes = context->nodes();
    REQUIRE(nodes.size() == static_cast<std::size_t>(world.size()));
    CHECK(nodes[static_cast<std::size_t>(world.rank())] == first);
}
