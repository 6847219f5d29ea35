// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>
#include <doctest/doctest.h>

#include "../../support/any_order_suite.hpp"

TEST_CASE("operands that are combined as they come") {
    boost::mpi::communicator const world;
    papcoll::attach(world);
    any_order_suite::promises(world, world.rank(), world.size());
}
