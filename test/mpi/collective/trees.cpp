// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// env.eager: OMPI_MCA_btl_vader_eager_limit=256 OMPI_MCA_btl_self_eager_limit=256
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>

#include "../../support/trees_suite.hpp"

TEST_CASE("tree policies") {
    boost::mpi::communicator const world;
    trees_suite::all(world, world.rank(), world.size());
}

TEST_CASE("tree policies on sub-communicators in reversed order") {
    boost::mpi::communicator const world;
    auto const part = world.split(world.rank() % 3 == 1 ? 1 : 0, -world.rank());
    trees_suite::rank_order(part, part.rank(), part.size(), papcoll::greedy_tree{});
}
