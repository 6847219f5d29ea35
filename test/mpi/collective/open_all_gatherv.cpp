// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// env.single: PAPCOLL_TEST_THREADS=single
// env.mixed: PAPCOLL_TEST_THREADS=mixed
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>

#include "../../support/open_uneven_suite.hpp"

namespace mpi = boost::mpi;

TEST_CASE("split-phase all-gathers of uneven parts") {
    mpi::communicator const world;
    open_suite::all_uneven(world, world.rank(), world.size());
    open_suite::uneven_mistakes(world, world.rank(), world.size());
}

TEST_CASE("split-phase all-gathers of uneven parts on sub-communicators in reversed order") {
    mpi::communicator const world;
    auto const part = world.split(world.rank() % 3 == 1 ? 1 : 0, -world.rank());
    open_suite::all_uneven(part, part.rank(), part.size());
}
