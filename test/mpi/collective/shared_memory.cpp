// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>

#include <cstddef>
#include <vector>

#include "../../support/shared_memory_suite.hpp"

namespace mpi = boost::mpi;

TEST_CASE("all collectives through shared memory") {
    mpi::communicator const world;
    papcoll::attach(world);
    shared_memory_suite::all(world, world.rank(), world.size());
}

TEST_CASE("values and parts of every length up to what short calls copy at once") {
    mpi::communicator const world;
    papcoll::attach(world);
    int const root = world.size() - 1;
    auto const ranks = static_cast<std::size_t>(world.size());
    for (std::size_t n = 1; n <= 530; ++n) {
        std::vector<char> const mine(n, static_cast<char>(world.rank() + 1));
        std::vector<char> values(n + 1, '-'), all(n * ranks + 1, '-');
        if (world.rank() == root)
            for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<char>(i % 97);
        papcoll::broadcast(world, values.data(), n, root, papcoll::shared_memory{});
        bool right = values[n] == '-';
        for (std::size_t i = 0; i < n; ++i) right = right && values[i] == static_cast<char>(i % 97);
        papcoll::all_gather(world, mine.data(), n, all.data(), papcoll::shared_memory{});
        for (std::size_t i = 0; i < n * ranks; ++i) right = right && all[i] == static_cast<char>(i / n + 1);
        CHECK_MESSAGE((right && all.back() == '-'), n);
    }
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
