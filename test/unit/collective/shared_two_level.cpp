// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// alone
#include <papcoll/policy/automatic.hpp>
#include <papcoll/policy/two_level.hpp>
#include <papcoll/transport/threads.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "../../support/sanitized.hpp"
#include "../../support/shared_memory_suite.hpp"

using papcoll::threads::endpoint;

namespace {

/// Where ranks are: numbers of ranks that differ from node to node, in a row and in turn.
auto const all_places = std::vector<std::vector<int>>{
    {0, 0, 0, 1, 1},          // 3 + 2
    {0, 1, 1, 1, 1},          // 1 + 4, the first alone
    {7, 7, 7, 7, 3},          // 4 + 1, the last alone
    {0, 1, 0, 1, 0, 1, 0},    // in turn
    {2, 1, 0, 0, 1, 2, 2, 2}, // three nodes, each begins and ends elsewhere
    {0, 0, 1, 1, 2, 2, 2},    // three nodes in a row
};
using shared_memory_suite::little_memory;

/// The calls of the suites, without what attaches again and so takes the memory away.
template <class Policy>
void calls(endpoint& self, Policy const& policy) {
    int const rank = self.rank(), ranks = self.size();
    broadcast_suite::promises(self, rank, ranks, policy);
    shared_memory_suite::all_reductions<double>(self, rank, ranks, policy);
    shared_memory_suite::all_reductions<int>(self, rank, ranks, policy);
    all_gather_suite::promises(self, rank, ranks, policy);
    all_gatherv_suite::promises(self, rank, ranks, policy);
    reduce_scatter_suite::promises(self, rank, ranks, policy);
    gather_suite::promises(self, rank, ranks, policy);
    gather_suite::every_root(self, rank, ranks, policy);
    all_to_all_suite::promises(self, rank, ranks, policy);
    scatter_suite::promises(self, rank, ranks, policy);
    scatter_suite::every_root(self, rank, ranks, policy);
    barrier_suite::promises(self, rank, ranks, policy);
    if constexpr (!papcoll::detail::may_reorder<Policy>(papcoll::collective_kind::scan))
        prefix_suite::promises(self, rank, ranks, policy);
    for (std::size_t const n : {0u, 1u, 50u, 3'000u, 20'000u})
        for (int root = 0; root < ranks; ++root) reduce_suite::check_sum(self, rank, ranks, n, root, policy);
    shared_memory_suite::long_parts(self, rank, ranks, policy);
    for (std::size_t const n : {0u, 1u, 40u, 700u}) {
        mixed_suite::one_by_one(self, rank, ranks, n, policy);
        mixed_suite::in_flight(self, rank, ranks, n, policy);
    }
}

template <class F>
void on_nodes(std::uint64_t seed, F f) {
    for (auto const& nodes : all_places) {
        // One rank alone and three nodes are enough where the sanitizers make each slow.
        if (test_support::sanitized && &nodes != &all_places[1] && &nodes != &all_places[4]) continue;
        CAPTURE(nodes.size());
        CAPTURE(nodes.front());
        papcoll::threads::options const o{
            .eager_limit = seed == 0 ? std::size_t(1) << 16 : 0, .seed = seed, .nodes = nodes};
        papcoll::threads::run(static_cast<int>(nodes.size()), o, f);
    }
}
void attach(endpoint& self, std::optional<std::size_t> memory) {
    papcoll::attach(self, {.link = papcoll::link_model{papcoll::ticks(1'000), 0.1}, .node_memory = memory});
}

} // namespace

TEST_CASE("the nodes of threads are those that were asked for, and share memory") {
    on_nodes(0, [](endpoint& self) {
        attach(self, {});
        auto const c = papcoll::context_of(self);
        auto const& nodes = c->nodes();
        auto const mine = nodes[static_cast<std::size_t>(self.rank())];
        auto const there = std::count(nodes.begin(), nodes.end(), mine);
        CHECK((c->shared() != nullptr) == (there > 1));
        CHECK(c->shared_bytes() > 0);
        papcoll::call_shape shape;
        shape.operation = papcoll::collective_kind::all_reduce;
        shape.ranks = self.size();
        shape.rank = self.rank();
        shape.count = 100;
        shape.element_bytes = 8;
        shape.nodes = nodes;
        shape.shared_bytes = c->shared_bytes();
        CHECK(papcoll::two_level{}.shares_memory(shape));
    });
    CHECK_THROWS_AS(papcoll::threads::run(2, papcoll::threads::options{.nodes = {1}}, [](endpoint&) {}),
                    std::invalid_argument);
}

TEST_CASE("two levels through shared memory, on nodes of different sizes") {
    on_nodes(0, [](endpoint& self) {
        attach(self, {});
        calls(self, papcoll::two_level{});
    });
}

TEST_CASE("two levels in many chunks, where there is little memory") {
    on_nodes(0, [](endpoint& self) {
        attach(self, little_memory);
        calls(self, papcoll::two_level{});
    });
}

TEST_CASE("two levels in lanes") {
    for (int const lanes : {2, 3, 8})
        for (auto const memory : {std::optional<std::size_t>(), std::optional<std::size_t>(little_memory)}) {
            if (test_support::sanitized && (lanes == 3) != memory.has_value()) continue;
            on_nodes(static_cast<std::uint64_t>(lanes - 2), [&](endpoint& self) {
                attach(self, memory);
                papcoll::two_level const policy{.lanes = lanes};
                int const rank = self.rank(), ranks = self.size();
                broadcast_suite::promises(self, rank, ranks, policy);
                shared_memory_suite::all_reductions<double>(self, rank, ranks, policy);
                for (std::size_t const n : {0u, 1u, 50u, 3'000u, 20'000u})
                    for (int root = 0; root < ranks; ++root)
                        reduce_suite::check_sum(self, rank, ranks, n, root, policy);
            });
        }
}

TEST_CASE("two levels with messages that come late and in any order, and ranks that sleep") {
    for (std::uint64_t const seed : {3u, 17u})
        on_nodes(seed, [&](endpoint& self) {
            attach(self, seed == 3 ? std::optional(little_memory) : std::nullopt);
            int const rank = self.rank(), ranks = self.size();
            for (std::size_t const n : {1u, 40u, 900u}) {
                mixed_suite::one_by_one(self, rank, ranks, n, papcoll::two_level{});
                mixed_suite::in_flight(self, rank, ranks, n, papcoll::two_level{});
            }
        });
}

TEST_CASE("what automatic chooses on nodes") {
    on_nodes(0, [](endpoint& self) {
        attach(self, {});
        calls(self, papcoll::automatic{});
    });
}
