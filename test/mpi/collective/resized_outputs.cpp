// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// ranks: 1 2 5
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>

#include "../../support/resize_suite.hpp"

namespace mpi = boost::mpi;

TEST_CASE("vectors are resized when nothing speaks against the call, and not before") {
    mpi::communicator const world;
    auto const part = world.split(0);
    resize_suite::all(part, part.rank(), part.size(), papcoll::automatic{});
}

TEST_CASE("the same by the MPI library, which is checked before papcoll is attached, too") {
    mpi::communicator const world;
    auto const part = world.split(0);
    resize_suite::all(part, part.rank(), part.size(), papcoll::native{});
}
