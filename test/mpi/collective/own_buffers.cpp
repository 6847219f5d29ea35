// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>
#include <doctest/doctest.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "../../support/own_buffers_suite.hpp"

namespace mpi = boost::mpi;

TEST_CASE("plans with buffers of their own") {
    mpi::communicator const world;
    papcoll::attach(world);
    own_buffers_suite::all(world, world.rank(), world.size(), {0, 3, 700, 9'001});
    own_buffers_suite::zeros(world, world.size());
    own_buffers_suite::words(world, world.rank(), world.size());
    own_buffers_suite::misuse(world, world.rank(), world.size(), [&] { world.barrier(); });
    own_buffers_suite::attached_in_between(world, world.size());
    own_buffers_suite::copies(world, world.rank(), world.size());
}

TEST_CASE("where ranks share no memory, and by the MPI library's own routines") {
    mpi::communicator const world;
    papcoll::attach(world, {.node_memory = 0});
    own_buffers_suite::all(world, world.rank(), world.size(), {3, 900});
    own_buffers_suite::copying(world, world.rank(), world.size(), 900, papcoll::native{});
}

TEST_CASE("other collectives in between, and plans that are gone") {
    mpi::communicator const world;
    papcoll::attach(world);
    int const p = world.size();
    for (int round = 0; round < 3; ++round) {
        auto one = papcoll::plan_all_reduce<int>(world, 3'000, std::plus<>()).with_buffers();
        auto other = papcoll::plan_all_gather<int>(world, 2'000).with_buffers();
        for (int i = 0; i < 20; ++i) {
            for (auto& x : one.input()) x = i + world.rank();
            for (auto& x : other.input()) x = i * world.rank();
            auto both = one.start();
            other.run();
            CHECK(papcoll::all_reduce(world, 1, std::plus<>()) == p);
            both.wait();
            CHECK(one.output()[2'999] == p * i + p * (p - 1) / 2);
            CHECK(other.output().back() == i * (p - 1));
        }
    }
}
