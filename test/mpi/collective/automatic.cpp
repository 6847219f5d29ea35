// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// ranks: 1 2 3 5 7 8 13
// clang-format off
// env.native: PAPCOLL_BROADCAST_ALGORITHM=native PAPCOLL_REDUCE_ALGORITHM=native PAPCOLL_ALL_REDUCE_ALGORITHM=native PAPCOLL_ALL_GATHER_ALGORITHM=native PAPCOLL_REDUCE_SCATTER_ALGORITHM=native
// env.forced: PAPCOLL_BROADCAST_ALGORITHM=binomial_tree PAPCOLL_REDUCE_ALGORITHM=greedy_tree PAPCOLL_ALL_REDUCE_ALGORITHM=fibonacci_tree PAPCOLL_ALL_GATHER_ALGORITHM=ring PAPCOLL_REPORT=1
// clang-format on
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>
#include <mpi.h>

#include "../../support/mixed_suite.hpp"

TEST_CASE("automatic, by the model or as the environment wants it") {
    boost::mpi::communicator const world;
    for (std::size_t const n : {0u, 1u, 100u, 20'000u}) {
        CAPTURE(n);
        mixed_suite::in_flight(world, world.rank(), world.size(), n, papcoll::automatic{});
        mixed_suite::one_by_one(world, world.rank(), world.size(), n, papcoll::automatic{});
    }
}

TEST_CASE("automatic on a part of the ranks, with blocking calls that match nonblocking ones") {
    boost::mpi::communicator const world;
    auto const half = world.split(world.rank() % 2);
    int const mine = half.rank() + 1;
    int const all = half.size() * (half.size() + 1) / 2;
    int sum = 0;
    papcoll::attach(half);
    if (half.rank() % 2 == 0)
        papcoll::all_reduce(half, mine, sum, std::plus<>());
    else
        papcoll::iall_reduce(half, mine, sum, std::plus<>()).wait();
    CHECK(sum == all);
}

TEST_CASE("an unfinished request progresses while other calls block, whatever the choice") {
    boost::mpi::communicator const world;
    std::vector<double> const in(30'000, 1.0);
    std::vector<double> out(in.size());
    int flag = 0;
    papcoll::attach(world);
    auto pending = papcoll::iall_reduce(world, in.data(), in.size(), out.data(), std::plus<>());
    if (world.rank() == world.size() - 1) pending.wait(); // before the broadcast, which it roots
    flag = world.rank() == world.size() - 1 ? 7 : 0;
    papcoll::broadcast(world, flag, world.size() - 1);
    CHECK(flag == 7);
    pending.wait();
    CHECK(out.back() == world.size());
}

TEST_CASE("a request outlives the communicator that it began on, whatever the choice") {
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    auto const sum = [](double a, double b) { return a + b; }; // an operator that MPI does not know
    for (int repeat = 0; repeat < 3; ++repeat) {
        std::vector<double> const in(100'000, 1.0);
        std::vector<double> out(in.size());
        MPI_Comm mine = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &mine);
        papcoll::attach(mine, {.link = papcoll::link_model{papcoll::ticks(1000), 1.0}});
        auto pending = papcoll::iall_reduce(mine, in.data(), in.size(), out.data(), sum);
        MPI_Comm_free(&mine);
        pending.wait();
        CHECK(out.back() == ranks);
    }
}

TEST_CASE("without commuting, operands meet in the order of ranks") {
    boost::mpi::communicator const world;
    auto const right = [](int, int b) { return b; };
    int const mine = world.rank();
    int last = -1;
    papcoll::all_reduce(world, mine, last, right);
    CHECK(last == world.size() - 1);
    std::vector<int> const in(static_cast<std::size_t>(world.size()), mine);
    std::vector<std::size_t> const sizes(in.size(), 1);
    papcoll::reduce_scatter(world, in.data(), sizes, &last, right); // MPI's own
    CHECK(last == world.size() - 1);
}
