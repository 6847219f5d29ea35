// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>

#include "../../support/shared_memory_suite.hpp"

namespace mpi = boost::mpi;

TEST_CASE("all collectives through shared memory") {
    mpi::communicator const world;
    papcoll::attach(world);
    shared_memory_suite::all(world, world.rank(), world.size());
}

TEST_CASE("in many chunks, where there is little of it") {
    mpi::communicator const world;
    papcoll::attach(world, {.node_memory = shared_memory_suite::little_memory});
    shared_memory_suite::together(world, world.rank(), world.size());
    shared_memory_suite::all(world, world.rank(), world.size());
}

TEST_CASE("several under way at a time, on several communicators") {
    mpi::communicator const world;
    auto const part = world.split(world.rank() % 2, -world.rank());
    papcoll::attach(world);
    papcoll::attach(part);
    shared_memory_suite::together(world, world.rank(), world.size());
    shared_memory_suite::together(part, part.rank(), part.size());
}

TEST_CASE("without memory to share the others are told") {
    mpi::communicator const world;
    papcoll::attach(world, {.node_memory = 0});
    int value = 1;
    if (world.size() > 1)
        CHECK_THROWS_AS(papcoll::broadcast(world, value, 0, papcoll::shared_memory{}), std::invalid_argument);
    papcoll::broadcast(world, value, 0);
    CHECK(value == 1);
}
