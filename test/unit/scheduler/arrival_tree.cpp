// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/analysis/verify.hpp>
#include <papcoll/scheduler/arrival_tree.hpp>
#include <papcoll/scheduler/greedy_tree.hpp>
#include <papcoll/scheduler/reversed.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../support/sanitized.hpp"
#include "support/tree_cases.hpp"
#include "support/tree_exhaustive.hpp"

namespace {

using papcoll::arrival_tree_scheduler;
using papcoll::grow_arrival_tree;
using papcoll::grow_greedy_tree;
using papcoll::problem;
using papcoll::ticks;
using tree_cases::all_costs;

static_assert(papcoll::scheduler<arrival_tree_scheduler>);

class random_arrivals {
public:
    explicit random_arrivals(unsigned seed)
        : m_random(seed) {}

    auto below(int limit) -> int { return std::uniform_int_distribution<int>(0, limit - 1)(m_random); }
    /// Spread evenly, in a few groups, or all but some early.
    auto operator()(int ranks, int spread) -> std::vector<ticks> {
        std::vector<ticks> arrivals;
        int const kind = below(3);
        for (int rank = 0; rank < ranks; ++rank) {
            int const time = below(spread + 1);
            arrivals.emplace_back(kind == 0 ? time : kind == 1 ? time / 7 * 7 : below(3) == 0 ? time : 0);
        }
        return arrivals;
    }

private:
    std::mt19937 m_random;
};

/// What is wrong with the times of the tree; empty: nothing. Each rank sends, receives and combines after its
/// arrival only, one message at a time but for their latencies, and what it sends is combined before.
auto timing_fault(papcoll::rank_tree const& placed, problem const& p, ticks latency = ticks{0})
    -> std::string {
    auto const& tree = placed.tree;
    std::vector<ticks> result;
    std::vector<ticks> link;
    for (int const rank : placed.rank) result.push_back(p.arrival(rank));
    link = result;
    for (int i = tree.machines() - 1; i >= 1; --i) {
        auto const t = tree.at(i);
        auto const to = static_cast<std::size_t>(t.to);
        if (t.begin < result[static_cast<std::size_t>(t.from)]) return "sends before it is ready";
        if (t.begin < link[to]) return "receives before it can";
        link[to] = t.end - latency;
        result[to] = std::max(result[to], t.end) + tree.compute_time;
    }
    auto ranks = placed.rank;
    std::sort(ranks.begin(), ranks.end());
    for (int rank = 0; rank < p.ranks; ++rank)
        if (ranks[static_cast<std::size_t>(rank)] != rank) return "not every rank once";
    if (placed.rank[0] != p.root) return "not at the root";
    return result[0] <= tree.finish ? "" : "ends late";
}

void check_schedule(arrival_tree_scheduler const& s, problem const& p) {
    auto const all = s.transfers(p);
    REQUIRE(papcoll::verify_reduction(all, p).value_or("right") == "right");
    REQUIRE(all.size() == static_cast<std::size_t>((p.ranks - 1) * p.blocks));
    auto const back = papcoll::reversed(s);
    REQUIRE(papcoll::verify_dissemination(papcoll::transfers(back, p), p).value_or("right") == "right");
    std::vector<papcoll::transfer> of_ranks;
    std::vector<papcoll::transfer> reversed_of_ranks;
    for (int rank = 0; rank < p.ranks; ++rank) {
        for (auto const& t : s.for_rank(p, rank).receives)
            of_ranks.push_back({t.step, t.peer, rank, t.block});
        for (auto const& t : back.for_rank(p, rank).sends)
            reversed_of_ranks.push_back({t.step, rank, t.peer, t.block});
    }
    std::sort(of_ranks.begin(), of_ranks.end());
    std::sort(reversed_of_ranks.begin(), reversed_of_ranks.end());
    REQUIRE(of_ranks == all);
    REQUIRE(reversed_of_ranks == papcoll::transfers(back, p));
}

} // namespace

TEST_CASE("when all arrive together it takes as long as Algorithm 1") {
    for (auto const& [d, c] : all_costs())
        for (int n = 1; n <= test_support::at_most(200, 40); ++n)
            for (int const root : {0, n / 2, n - 1}) {
                auto const least = grow_greedy_tree(n, d, c).finish;
                CHECK(grow_arrival_tree({.ranks = n, .root = root}, d, c).tree.finish == least);
                std::vector<ticks> const arrivals(static_cast<std::size_t>(n), ticks{-50});
                CHECK(grow_arrival_tree({.ranks = n, .root = root, .arrivals = arrivals}, d, c).tree.finish ==
                      least - ticks{50});
            }
}

TEST_CASE("no tree of up to 7 ranks ends earlier, nor does its own before the time it states") {
    random_arrivals arrivals(4);
    for (int n = 1; n <= 7; ++n)
        for (int instance = 0;
             instance < (n < 7 ? test_support::at_most(300, 30) : test_support::at_most(60, 6)); ++instance) {
            ticks const d{arrivals.below(8)};
            ticks const c{arrivals.below(8) + (d == ticks{0} ? 1 : 0)};
            ticks const latency{instance % 2 == 0 ? 0 : arrivals.below(20)};
            auto const times = arrivals(n, arrivals.below(60));
            problem const p{.ranks = n, .root = arrivals.below(n), .arrivals = times};
            auto const placed = grow_arrival_tree(p, d, c, latency);
            REQUIRE(timing_fault(placed, p, latency) == "");
            REQUIRE(placed.tree.finish == tree_exhaustive::least_end(p, d, c, latency));
            std::vector<int> receiver(times.size(), p.root);
            for (int i = 1; i < n; ++i) {
                auto const t = placed.tree.at(i);
                receiver[static_cast<std::size_t>(placed.rank[static_cast<std::size_t>(t.from)])] =
                    placed.rank[static_cast<std::size_t>(t.to)];
            }
            CHECK(tree_exhaustive::evaluator(p, d, c, latency).end(receiver) == placed.tree.finish);
        }
}

TEST_CASE("where latencies pass together, one rank may receive from many, as in the LogP model") {
    auto const end = [](int ranks, ticks latency) {
        return grow_arrival_tree({.ranks = ranks}, ticks{1}, ticks{0}, latency).tree.finish;
    };
    CHECK(end(8, ticks{0}) == ticks{3});     // a binomial tree
    CHECK(end(8, ticks{100}) == ticks{107}); // a star
    CHECK(end(9, ticks{2}) == ticks{7});     // Fibonacci's kind: 1, 1, 1, 2, 3, 4, 6, 9 ranks by 0, 1, 2, …
    CHECK(end(10, ticks{2}) == ticks{8});
    CHECK(arrival_tree_scheduler{.latency = ticks{100}}.for_rank({.ranks = 8}, 0).receives.size() == 7);
    CHECK_THROWS_AS((void)grow_arrival_tree({.ranks = 2}, ticks{1}, ticks{0}, ticks{-1}),
                    std::invalid_argument);
    CHECK_THROWS_AS((void)grow_arrival_tree({.ranks = 2}, ticks{1}, ticks{0}, ticks::max()),
                    std::invalid_argument);
}

TEST_CASE("ranks that send several times do not end earlier, as far as two messages more can tell") {
    random_arrivals arrivals(8);
    for (int instance = 0; instance < test_support::at_most(60, 6); ++instance) {
        int const n = 2 + instance % 3;
        ticks const d{1 + arrivals.below(8)};
        ticks const c{arrivals.below(8)};
        auto const times = arrivals(n, arrivals.below(40));
        problem const p{.ranks = n, .root = arrivals.below(n), .arrivals = times};
        CHECK(tree_exhaustive::schedule_search(p, d, c).least_end(n + 1) ==
              grow_arrival_tree(p, d, c).tree.finish);
    }
}

TEST_CASE("one rank that is late enough, the root or another, costs one transfer and one combination") {
    for (auto const& [d, c] : all_costs())
        for (int n = 2; n <= test_support::at_most(64, 20); ++n)
            for (int const root : {0, n / 2})
                for (int const late : {0, n / 2, n - 1}) {
                    std::vector<ticks> arrivals(static_cast<std::size_t>(n), ticks{0});
                    // the others are through: without the late rank, and the root's last combination
                    ticks const last = grow_greedy_tree(n - 1, d, c).finish;
                    arrivals[static_cast<std::size_t>(late)] = last;
                    problem const p{.ranks = n, .root = root, .arrivals = arrivals};
                    CHECK(grow_arrival_tree(p, d, c).tree.finish == last + d + c);
                }
}

TEST_CASE("ranks that can take each other's places are in a row, so that few messages leave a node") {
    auto const between_nodes = [](int per_node, problem const& p) {
        auto const placed = grow_arrival_tree(p, ticks{10}, ticks{1});
        int count = 0;
        for (std::size_t k = 1; k < placed.rank.size(); ++k) {
            auto const parent = static_cast<std::size_t>(placed.tree.parent[k]);
            count += placed.rank[k] / per_node != placed.rank[parent] / per_node ? 1 : 0;
        }
        return count;
    };
    auto const most = [&](int ranks, int per_node, int root) {
        int result = 0;
        for (int late = 0; late <= ranks; ++late) {
            std::vector<ticks> arrivals(static_cast<std::size_t>(ranks), ticks{0});
            if (late < ranks)
                arrivals[static_cast<std::size_t>(late)] = ticks{1000};
            else
                std::fill(arrivals.begin() + ranks / 2, arrivals.end(), ticks{1000});
            problem const p{.ranks = ranks, .root = root, .arrivals = arrivals};
            result = std::max(result, between_nodes(per_node, p));
        }
        return result;
    };
    for (int const root : {0, 8, 56}) {
        CAPTURE(root);
        CHECK(between_nodes(8, {.ranks = 64, .root = root}) == 7); // the least that there can be
        CHECK(most(64, 8, root) <= 2 * 7);
    }
    for (int const per_node : {5, 8})
        for (int ranks = 3 * per_node; ranks <= test_support::at_most(100, 30); ++ranks) {
            CAPTURE(per_node);
            CAPTURE(ranks);
            CHECK(most(ranks, per_node, per_node) <= 3 * (ranks - 1) / 4);
        }
}

TEST_CASE("later arrivals never make it end earlier, and it never ends after waiting for all") {
    random_arrivals arrivals(5);
    for (int instance = 0; instance < test_support::at_most(2000, 200); ++instance) {
        int const n = 1 + arrivals.below(60);
        auto const [d, c] = all_costs()[static_cast<std::size_t>(arrivals.below(12))];
        auto times = arrivals(n, arrivals.below(300));
        problem const p{.ranks = n, .root = arrivals.below(n), .arrivals = times};
        auto const placed = grow_arrival_tree(p, d, c);
        REQUIRE(timing_fault(placed, p) == "");
        REQUIRE(std::is_sorted(placed.tree.remaining.begin(), placed.tree.remaining.end()));
        ticks const last = *std::max_element(times.begin(), times.end());
        ticks const together = grow_greedy_tree(n, d, c).finish;
        CHECK(placed.tree.finish >= last + (n > 1 ? d + c : ticks{0}));
        CHECK(placed.tree.finish <= last + together);
        times[static_cast<std::size_t>(arrivals.below(n))] += ticks{arrivals.below(30)};
        CHECK(grow_arrival_tree(p, d, c).tree.finish >= placed.tree.finish);
    }
}

TEST_CASE("schedules are right, one block or several, with any arrivals") {
    random_arrivals arrivals(6);
    for (int instance = 0; instance < test_support::at_most(400, 50); ++instance) {
        int const n = 1 + arrivals.below(40);
        auto const times = arrivals(n, arrivals.below(100));
        problem const p{.ranks = n,
                        .root = arrivals.below(n),
                        .blocks = 1 + arrivals.below(4),
                        .arrivals = instance % 10 == 0 ? std::span<ticks const>{} : times};
        auto const [d, c] = all_costs()[static_cast<std::size_t>(arrivals.below(12))];
        ticks const latency{arrivals.below(2) * arrivals.below(40)};
        check_schedule({.transfer_time = d, .compute_time = c, .latency = latency}, p);
    }
}

TEST_CASE("the extremes of ticks, and costs of zero, give right schedules") {
    std::vector<ticks> const extremes{ticks::min(), ticks::max(), ticks{0},  ticks::max() - ticks{1},
                                      ticks{-5},    ticks{9},     ticks{-5}, ticks::min()};
    for (int root = 0; root < 8; ++root)
        for (auto const& times : {extremes, std::vector(8, ticks::min()), std::vector(8, ticks::max())})
            for (ticks const d : {ticks{0}, ticks{3}, ticks::max() / 80})
                check_schedule({.transfer_time = d, .compute_time = ticks{0}},
                               {.ranks = 8, .root = root, .arrivals = times});
}

TEST_CASE("values that cannot be are named") {
    arrival_tree_scheduler const s;
    std::vector<ticks> const one_arrival(1, ticks{0});
    CHECK_THROWS_WITH_AS((void)s.for_rank({.ranks = 2, .arrivals = one_arrival}, 0),
                         doctest::Contains("problem.arrivals"), std::invalid_argument);
    CHECK_THROWS_WITH_AS((void)s.for_rank({.ranks = 2}, 2), doctest::Contains("rank must be"),
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS((void)grow_arrival_tree({.ranks = 2}, ticks{-3}, ticks{0}),
                         doctest::Contains("transfer_time"), std::invalid_argument);
    CHECK_THROWS_WITH_AS((void)grow_arrival_tree({.ranks = 2, .root = 5}, ticks{3}, ticks{0}),
                         doctest::Contains("problem.root"), std::invalid_argument);
}
