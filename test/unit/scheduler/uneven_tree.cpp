// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/analysis/verify.hpp>
#include <papcoll/scheduler/greedy_tree.hpp>
#include <papcoll/scheduler/reversed.hpp>
#include <papcoll/scheduler/uneven_tree.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "../../support/sanitized.hpp"
#include "support/uneven_trees.hpp"

namespace {

using papcoll::grow_uneven_tree;
using papcoll::problem;
using papcoll::rank_tree;
using papcoll::retimed;
using papcoll::ticks;
using papcoll::uneven_costs;
using papcoll::uneven_tree_scheduler;

using uneven_trees::least_length;
using uneven_trees::random_costs;

static_assert(papcoll::scheduler<uneven_tree_scheduler>);

/// Executes the tree forwards: each rank combines what it has received, one value at a time, and sends when
/// it has combined all. When the root has the result, if each transfer begins as early as its ends permit.
auto length_forwards(rank_tree const& placed, uneven_costs const& costs) -> ticks {
    auto const n = placed.rank.size();
    std::vector<ticks> ready(n, ticks{0}), received(n, ticks{0});
    for (std::size_t i = n; i-- > 1;) { // children of equal parents in the order of their transfers
        auto const to = static_cast<std::size_t>(placed.tree.parent[i]);
        int const from_rank = placed.rank[i], to_rank = placed.rank[to];
        auto const begin = std::max(ready[i], received[to]);
        received[to] = begin + costs.transfer_time(static_cast<int>(n), from_rank, to_rank);
        ready[to] = std::max(ready[to], received[to]) + costs.compute_time(to_rank);
    }
    return ready[0];
}

} // namespace

TEST_CASE("an uneven tree reduces all to the root, whatever the costs") {
    for (int ranks = 1; ranks <= test_support::at_most(64, 13); ++ranks)
        for (int const blocks : {1, 3})
            for (int const root : {0, ranks / 3, ranks - 1}) {
                CAPTURE(ranks);
                CAPTURE(root);
                uneven_tree_scheduler const s{
                    random_costs(ranks, 9, 20, static_cast<unsigned>(ranks + blocks))};
                problem const p{.ranks = ranks, .root = root, .blocks = blocks};
                REQUIRE(papcoll::verify_reduction(s.transfers(p), p).value_or("right") == "right");
                REQUIRE(
                    papcoll::verify_dissemination(papcoll::reversed(s).transfers(p), p).value_or("right") ==
                    "right");
                for (int const rank : {0, ranks / 2, ranks - 1}) {
                    papcoll::rank_schedule expected;
                    for (auto const& t : s.transfers(p)) {
                        if (t.from == rank) expected.sends.push_back({t.step, t.to, t.block});
                        if (t.to == rank) expected.receives.push_back({t.step, t.from, t.block});
                    }
                    CHECK(s.for_rank(p, rank) == expected);
                }
            }
}

TEST_CASE("with equal costs an uneven tree is as short as the greedy one") {
    for (int ranks = 1; ranks <= test_support::at_most(64, 13); ++ranks)
        for (int const transfer : {1, 2, 5})
            for (int const compute : {0, 1, 3, 10}) {
                CAPTURE(ranks);
                auto const even = papcoll::grow_greedy_tree(ranks, ticks{transfer}, ticks{compute});
                uneven_costs const costs{{ticks{compute}}, {ticks{transfer}}};
                CHECK(grow_uneven_tree(ranks, ranks / 2, costs).tree.finish == even.finish);
            }
}

TEST_CASE("the length of an uneven tree is that of its execution") {
    for (unsigned seed = 0; seed < test_support::at_most(200U, 40U); ++seed) {
        int const ranks = 1 + static_cast<int>(seed % 20);
        auto const costs = random_costs(ranks, 1 + static_cast<int>(seed % 7), 10, seed);
        auto const placed = grow_uneven_tree(ranks, 0, costs);
        CHECK(length_forwards(placed, costs) <= placed.tree.finish);
        auto const again = retimed(placed, costs);
        CHECK(again.tree.finish == placed.tree.finish);
        CHECK(again.rank == placed.rank);
        CHECK(std::is_sorted(placed.tree.remaining.begin(), placed.tree.remaining.end()));
    }
}

TEST_CASE("an uneven tree is close to the shortest of all") {
    double worst = 0, sum = 0;
    int n = 0;
    for (int ranks = 2; ranks <= 6; ++ranks)
        for (unsigned seed = 0; seed < 40; ++seed) {
            auto const costs = random_costs(ranks, 1 + static_cast<int>(seed % 3) * 8, 10, seed);
            auto const least = least_length(ranks, 0, costs);
            auto const grown = grow_uneven_tree(ranks, 0, costs).tree.finish;
            REQUIRE(grown >= least);
            double const ratio = static_cast<double>(grown.count()) / static_cast<double>(least.count());
            worst = std::max(worst, ratio);
            sum += ratio;
            ++n;
        }
    CAPTURE(worst);
    CAPTURE(sum / n);
    MESSAGE("mean ", sum / n, ", worst ", worst);
    CHECK(worst < 1.5);
    CHECK(sum / n < 1.05);
}

TEST_CASE("a slow rank combines nothing") {
    for (int ranks = 3; ranks <= test_support::at_most(40, 20); ++ranks) {
        uneven_costs costs{std::vector<ticks>(static_cast<std::size_t>(ranks), ticks{1}), {ticks{1}}};
        costs.compute_times.back() = ticks{1000};
        auto const placed = grow_uneven_tree(ranks, 0, costs);
        auto const slow = std::find(placed.rank.begin(), placed.rank.end(), ranks - 1) - placed.rank.begin();
        CHECK(std::find(placed.tree.parent.begin() + 1, placed.tree.parent.end(), static_cast<int>(slow)) ==
              placed.tree.parent.end());
    }
}

TEST_CASE("costs that are not there for all ranks, or negative, are refused") {
    auto const refused = [](uneven_costs const& costs) {
        CHECK_THROWS_AS((void)grow_uneven_tree(3, 0, costs), std::invalid_argument);
    };
    refused({{ticks{1}, ticks{1}}, {ticks{1}}});
    refused({{}, {ticks{1}}});
    refused({{ticks{1}}, std::vector<ticks>(3, ticks{1})});
    refused({{ticks{-1}}, {ticks{1}}});
    refused({{ticks{1}}, {ticks{-1}}});
    refused({{ticks::max()}, {ticks{1}}});
    CHECK_THROWS_AS((void)grow_uneven_tree(3, 3, {}), std::invalid_argument);
    CHECK_THROWS_AS((void)grow_uneven_tree(0, 0, {}), std::invalid_argument);
}
