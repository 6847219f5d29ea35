// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// env.single: PAPCOLL_TEST_THREADS=single
// env.eager: OMPI_MCA_btl_vader_eager_limit=256 OMPI_MCA_btl_self_eager_limit=256
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>
#include <doctest/doctest.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "../../support/barrier_suite.hpp"
#include "../../support/mixed_suite.hpp"
#include "../../support/pretended_nodes.hpp"
#include "../../support/serialized_suite.hpp"

// Collectives that go by the memory of nodes within them, and by MPI's messages between them.

namespace {

struct layout {
    char const* name;
    int (*node)(int rank);
};
constexpr layout layouts[]{{"pairs in a row", [](int rank) { return rank / 2; }},
                           {"two nodes in turn", [](int rank) { return rank % 2; }},
                           {"the first rank alone", [](int rank) { return rank == 0 ? 0 : 1; }},
                           {"threes from the back", [](int rank) { return (100 - rank) / 3; }}};

template <class F>
void on_nodes(F f) {
    boost::mpi::communicator const all;
    for (auto const& l : layouts) {
        CAPTURE(l.name);
        test_support::pretended_nodes const there(l.node);
        auto const world = all.split(0);
        // As between hosts: much dearer than memory.
        papcoll::attach(world, {.link = papcoll::link_model{papcoll::ticks(50'000), 10}});
        auto const& nodes = papcoll::context_of(world)->nodes();
        REQUIRE(nodes.size() == static_cast<std::size_t>(world.size()));
        for (int a = 0; a < world.size(); ++a)
            for (int b = 0; b < a; ++b)
                CHECK((nodes[static_cast<std::size_t>(a)] == nodes[static_cast<std::size_t>(b)]) ==
                      (l.node(a) == l.node(b)));
        f(world, world.rank(), world.size());
    }
}

} // namespace

TEST_CASE("collectives over several nodes") {
    on_nodes([](boost::mpi::communicator const& world, int rank, int ranks) {
        for (std::size_t const n : {0u, 1u, 50u, 3'000u}) {
            mixed_suite::one_by_one(world, rank, ranks, n, papcoll::automatic{});
            mixed_suite::in_flight(world, rank, ranks, n, papcoll::automatic{});
        }
        barrier_suite::promises(world, rank, ranks, papcoll::automatic{});
    });
}

TEST_CASE("calls that repeat others over several nodes") {
    on_nodes([](boost::mpi::communicator const& world, int rank, int ranks) {
        for (std::size_t const n : {1u, 2u, 700u}) {
            std::vector<int> const mine(n, rank + 1);
            std::vector<int> sum(n), all(n * static_cast<std::size_t>(ranks)), value(n);
            for (int again = 0; again < 30; ++again) {
                papcoll::all_reduce(world, mine.data(), n, sum.data(), std::plus<>());
                CHECK(sum == std::vector<int>(n, ranks * (ranks + 1) / 2));
                papcoll::all_gather(world, mine.data(), n, all.data());
                CHECK(all.back() == ranks);
                int const root = again % ranks;
                value.assign(n, rank == root ? again : -1);
                papcoll::broadcast(world, value.data(), n, root);
                CHECK(value == std::vector<int>(n, again));
                papcoll::reduce(world, mine.data(), n, sum.data(), std::plus<>(), root);
                papcoll::scan(world, mine.data(), n, sum.data(), std::plus<>());
                CHECK(sum.back() == (rank + 1) * (rank + 2) / 2);
            }
        }
    });
}

TEST_CASE("values without an MPI datatype over several nodes") {
    on_nodes([](boost::mpi::communicator const& world, int rank, int ranks) {
        serialized_suite::broadcasts(world, rank, ranks, papcoll::automatic{});
        serialized_suite::concatenations(world, rank, ranks, papcoll::automatic{});
        serialized_suite::all_gathers(world, rank, ranks, papcoll::automatic{});
        serialized_suite::boxes(world, rank, ranks, papcoll::automatic{});
        serialized_suite::in_flight(world, rank, ranks, papcoll::automatic{});
        serialized_suite::failures(world, rank, ranks, papcoll::automatic{});
    });
}
