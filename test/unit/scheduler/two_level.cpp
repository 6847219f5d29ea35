// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/analysis/verify.hpp>
#include <papcoll/scheduler/two_level.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../../support/sanitized.hpp"

using papcoll::problem;
using papcoll::rank_grid;
using papcoll::transfer;
using papcoll::two_level_scheduler;

static_assert(papcoll::scheduler<two_level_scheduler>);
static_assert(papcoll::scheduler<papcoll::reversed_scheduler<two_level_scheduler>>);

namespace {

/// k ranks on each of N nodes: in their order, dealt out, or anyhow; the numbers of nodes have gaps.
auto placement(int nodes, int per_node, int how) -> std::vector<int> {
    std::vector<int> of_rank;
    for (int r = 0; r < nodes * per_node; ++r) of_rank.push_back(3 * (how == 1 ? r % nodes : r / per_node));
    if (how >= 2) std::shuffle(of_rank.begin(), of_rank.end(), std::mt19937(static_cast<unsigned>(how)));
    return of_rank;
}

/// The first violation of the schedule or of its reversal.
auto violation(two_level_scheduler const& s, problem const& p) -> std::string {
    auto const forward = transfers(s, p);
    if (auto const found = verify_dissemination(forward, p)) return *found;
    auto const backward = transfers(reversed(s), p);
    if (auto const found = verify_reduction(backward, p)) return *found;
    for (int rank = 0; rank < p.ranks; ++rank) { // receives and sends of all ranks are the same transfers
        auto const share = s.for_rank(p, rank);
        std::vector<transfer> received, expected;
        for (auto const& t : share.receives) received.push_back({t.step, t.peer, rank, t.block});
        std::copy_if(forward.begin(), forward.end(), std::back_inserter(expected),
                     [&](auto const& t) { return t.to == rank; });
        if (received != expected) return "the receives of rank " + std::to_string(rank);
        if (!std::is_sorted(share.sends.begin(), share.sends.end())) return "sends out of order";
    }
    return {};
}

/// How often each block enters each node that its owner is not on.
auto entries_are_single(two_level_scheduler const& s, problem const& p) -> bool {
    rank_grid const grid(s.nodes);
    std::map<std::pair<int, int>, int> entries;
    for (auto const& t : transfers(s, p))
        if (grid.node(t.from) != grid.node(t.to)) ++entries[{grid.node(t.to), t.block}];
    return std::all_of(entries.begin(), entries.end(), [](auto const& e) { return e.second == 1; }) &&
           entries.size() == static_cast<std::size_t>((grid.nodes() - 1) * p.blocks);
}

template <class F>
void for_grids(int most_nodes, int most_per_node, F f) {
    if (test_support::sanitized) {
        most_nodes = std::min(most_nodes, 5);
        most_per_node = std::min(most_per_node, 4);
    }
    for (int nodes = 1; nodes <= most_nodes; ++nodes)
        for (int per_node = 1; per_node <= most_per_node; ++per_node)
            for (int how = 0; how < 3; ++how) {
                auto const of_rank = placement(nodes, per_node, how);
                CAPTURE(nodes);
                CAPTURE(per_node);
                CAPTURE(how);
                f(of_rank, per_node);
            }
}

} // namespace

TEST_CASE("two levels broadcast and reduce on every grid, from every root, in any number of lanes") {
    for_grids(9, 6, [](std::vector<int> const& nodes, int per_node) {
        int const ranks = static_cast<int>(nodes.size());
        for (int root = 0; root<ranks; root += ranks> 12 ? 5 : 1)
            for (int lanes = 0; lanes <= per_node; lanes += per_node > 3 ? 2 : 1)
                for (int const blocks : {1, 2, 7, 24}) {
                    problem const p{.ranks = ranks, .root = root, .blocks = blocks};
                    CAPTURE(root);
                    CAPTURE(lanes);
                    CAPTURE(blocks);
                    CHECK(violation({nodes, lanes}, p) == "");
                }
    });
}

TEST_CASE("two levels gather to all, and reduce to owners, on every grid") {
    for_grids(9, 6, [](std::vector<int> const& nodes, int) {
        int const ranks = static_cast<int>(nodes.size());
        for (int const each : {1, 3}) {
            std::vector<int> owners;
            for (int b = 0; b < ranks * each; ++b) owners.push_back(b / each);
            problem const p{.ranks = ranks, .blocks = ranks * each, .arrivals = {}, .owners = owners};
            CHECK(violation({nodes, 0}, p) == "");
            CHECK(entries_are_single({nodes, 0}, p));
        }
        std::vector<int> uneven{ranks - 1, 0, ranks / 2, 0, 0, ranks - 1};
        problem const p{.ranks = ranks, .blocks = 6, .arrivals = {}, .owners = uneven};
        CHECK(violation({nodes, 0}, p) == "");
    });
}

TEST_CASE("one lane takes blocks as they come, for any number of nodes and blocks") {
    for (int nodes = 1; nodes <= 40; ++nodes)
        for (int const blocks : {1, 2, 3, 5, 6, 11, 30}) {
            auto const of_rank = placement(nodes, 3, nodes % 3);
            problem const p{.ranks = 3 * nodes, .root = nodes, .blocks = blocks};
            CAPTURE(nodes);
            CAPTURE(blocks);
            CHECK(violation({of_rank, 1}, p) == "");
        }
}

TEST_CASE("each block enters each node once") {
    for_grids(7, 5, [](std::vector<int> const& nodes, int per_node) {
        int const ranks = static_cast<int>(nodes.size());
        for (int const lanes : {0, 1, per_node}) {
            problem const p{.ranks = ranks, .root = ranks / 2, .blocks = 11};
            CHECK(entries_are_single({nodes, lanes}, p));
        }
    });
}

TEST_CASE("a thousand ranks on 32 nodes") {
    auto const nodes = placement(32, 32, 1);
    problem const p{.ranks = 1024, .root = 77, .blocks = 64};
    CHECK_FALSE(verify_dissemination(transfers(two_level_scheduler{nodes, 0}, p), p));
    CHECK_FALSE(verify_dissemination(transfers(two_level_scheduler{nodes, 1}, p), p));
}

TEST_CASE("nodes and lanes that cannot be") {
    std::vector<int> const uneven{0, 0, 0, 1, 1}, even{0, 0, 1, 1};
    problem const five{.ranks = 5}, four{.ranks = 4};
    CHECK_THROWS_AS((void)(two_level_scheduler{uneven, 0}.for_rank(five, 0)), std::invalid_argument);
    CHECK_THROWS_AS((void)(two_level_scheduler{even, 0}.for_rank(five, 0)), std::invalid_argument);
    CHECK_THROWS_AS((void)(two_level_scheduler{even, 3}.for_rank(four, 0)), std::invalid_argument);
    CHECK_THROWS_AS((void)(two_level_scheduler{even, -1}.for_rank(four, 0)), std::invalid_argument);
    CHECK_THROWS_AS((void)(two_level_scheduler{even, 0}.for_rank(four, 4)), std::invalid_argument);
}

TEST_CASE("a grid knows who shares a node") {
    std::vector<int> const of_rank{7, 2, 7, 2, 7, 2};
    rank_grid const grid(of_rank);
    CHECK(grid.nodes() == 2);
    CHECK(grid.per_node() == 3);
    CHECK(grid.even());
    CHECK(std::vector<int>(grid.members(0).begin(), grid.members(0).end()) == std::vector<int>{1, 3, 5});
    CHECK(grid.node(4) == 1);
    CHECK(grid.index(4) == 2);
    std::vector<int> const uneven_nodes{0, 1, 1};
    CHECK_FALSE(rank_grid(uneven_nodes).even());
}
