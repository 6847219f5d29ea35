// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/scheduler/greedy_tree.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../support/sanitized.hpp"
#include "support/tree_cases.hpp"
#include "support/tree_exhaustive.hpp"

namespace {

using papcoll::grow_greedy_tree;
using papcoll::problem;
using papcoll::ticks;
using tree_cases::all_costs;
using tree_cases::ceil_log2;

/// Per n ≤ largest the least time to reduce n values. In time t the sink's last message takes d + c and the
/// combination before it ends max(d, c) earlier, so size(t) = size(t − max(d, c)) + size(t − d − c).
auto least_lengths(int largest, int d, int c) -> std::vector<int> {
    std::vector<long> size;
    std::vector<int> length(2, 0);
    for (int t = 0; static_cast<int>(length.size()) <= largest; ++t) {
        auto const before = [&](int by) { return size[static_cast<std::size_t>(t - by)]; };
        size.push_back(t < d + c ? 1 : before(std::max(d, c)) + before(d + c));
        while (static_cast<long>(length.size()) <= size.back()) length.push_back(t);
    }
    return length;
}

/// The numbers of each line of a file.
auto lines(char const* name) -> std::vector<std::vector<int>> {
    std::vector<std::vector<int>> all;
    std::ifstream file(std::string(PAPCOLL_TEST_DATA "/tree/") + name);
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.front() == '#') continue;
        std::istringstream words(line);
        all.emplace_back();
        for (int number = 0; words >> number;) all.back().push_back(number);
    }
    return all;
}

auto length(int n, int d, int c, papcoll::tree_limits limits = {}) -> int {
    return static_cast<int>(grow_greedy_tree(n, ticks{d}, ticks{c}, limits).finish.count());
}

/// What replaces it for any K: 2^⌊log2 K⌋ machines serve in the last of the doublings, so that what is left
/// is n − 2^(⌊log2 K⌋ + 1), no less than the n − 2K of the paper's proof.
auto repaired_steps(int n, int k) -> int {
    int const doublings = static_cast<int>(std::bit_width(static_cast<unsigned>(k)));
    int const left = std::max(n - (1 << doublings), 0);
    return doublings + (left + k - 1) / k;
}

/// The factor of d + c in Proposition 8 and Corollary 11.
auto limited_steps(int n, int k) -> int {
    int const doublings = static_cast<int>(std::bit_width(static_cast<unsigned>(k)));
    return doublings + (n + k - 1) / k - 2;
}

} // namespace

TEST_CASE("lengths are those of the reference files") {
    auto const optimal = lines("optimal_length.txt");
    CHECK(optimal.size() == 153);
    for (auto const& v : optimal) CHECK(length(v[0], v[1], v[2]) == v[3]);
    auto const transfers = lines("limited_transfers_length.txt");
    CHECK(transfers.size() == 120);
    for (auto const& v : transfers) CHECK(length(v[0], v[1], v[2], {.transfers = v[3]}) == v[4]);
    auto const reducers = lines("limited_reducers_length.txt");
    CHECK(reducers.size() == 100);
    for (auto const& v : reducers) CHECK(length(v[0], v[1], v[2], {.reducers = v[3]}) == v[4]);
}

TEST_CASE("the length is the optimum of a dynamic programme, for all n up to 1000 and many costs") {
    for (int d = 0; d <= 9; ++d)
        for (int c = d == 0 ? 1 : 0; c <= 9; ++c) {
            if (std::gcd(d, c) != 1) continue;
            CAPTURE(d);
            CAPTURE(c);
            int const most = test_support::at_most(1000, 100);
            auto const least = least_lengths(most, d, c);
            for (int n = 1; n <= most; ++n) REQUIRE(length(n, d, c) == least[static_cast<std::size_t>(n)]);
        }
}

TEST_CASE("no tree of up to 6 machines is shorter, with a limit on reducers neither (Theorem 9)") {
    for (auto const& [d, c] : all_costs())
        for (int n = 1; n <= 6; ++n) {
            problem const p{.ranks = n};
            tree_exhaustive::evaluator evaluate(p, d, c);
            auto const size = static_cast<std::size_t>(n);
            std::vector<ticks> least(size + 1, ticks::max()); // by number of reducers
            tree_exhaustive::for_each_tree(p, [&](std::vector<int> const& receiver) {
                std::set<int> const reducers(receiver.begin() + 1, receiver.end());
                least[reducers.size()] = std::min(least[reducers.size()], evaluate.end(receiver));
            });
            for (std::size_t k = 1; k <= size; ++k) least[k] = std::min(least[k], least[k - 1]);
            CHECK(grow_greedy_tree(n, d, c).finish == least[size]);
            for (int k = 1; k <= n; ++k)
                CHECK(grow_greedy_tree(n, d, c, {.reducers = k}).finish ==
                      least[static_cast<std::size_t>(k)]);
        }
}

TEST_CASE("no schedule of up to 8 machines with limited transfers is shorter (Theorem 7)") {
    for (auto const& [d, c] : all_costs())
        for (int n = 2; n <= 8 && d > ticks{0}; ++n)
            for (int k = 1; k <= n / 2 + 1; ++k) {
                CAPTURE(n);
                CAPTURE(k);
                CHECK(grow_greedy_tree(n, d, c, {.transfers = k}).finish ==
                      tree_exhaustive::limited_search(n, k, d, c).least_end());
            }
}

TEST_CASE("degree and depth bound the length from below, and are logarithmic (section 5)") {
    for (auto const& [d, c] : all_costs())
        for (int n = 2; n <= 600; ++n) {
            auto const tree = grow_greedy_tree(n, d, c);
            int const degree = tree_cases::largest_degree(tree), depth = tree_cases::depth(tree);
            CHECK(tree.finish >= d + (degree - 1) * std::max(d, c) + c);
            CHECK(tree.finish >= depth * (d + c));
            if (d + c > ticks{0}) CHECK(depth <= ceil_log2(n));
            if (d + c > ticks{0}) CHECK(degree <= 2 * ceil_log2(n) - 1);
        }
}

TEST_CASE("the bounds of section 5 hold for every tree") {
    for (auto const& [d, c] : all_costs())
        for (int n = 2; n <= 6; ++n) {
            problem const p{.ranks = n};
            tree_exhaustive::evaluator evaluate(p, d, c);
            tree_exhaustive::for_each_tree(p, [&, d = d, c = c](std::vector<int> const& receiver) {
                auto const end = evaluate.end(receiver);
                REQUIRE(end >= d + (tree_cases::largest_degree(receiver) - 1) * std::max(d, c) + c);
                REQUIRE(end >= tree_cases::depth(receiver) * (d + c));
            });
        }
}

TEST_CASE("Lemma 5 and Proposition 6 bound the length") {
    for (auto const& [d, c] : all_costs())
        for (int n = 1; n <= 600; ++n) {
            auto const finish = grow_greedy_tree(n, d, c).finish;
            CHECK(finish >= ceil_log2(n) * std::max(d, c));
            CHECK(finish <= ceil_log2(n) * (d + c));
        }
}

TEST_CASE("times are one-ported, nothing is sent before it is combined, and limits hold at every instant") {
    for (auto const& [d, c] : all_costs())
        for (int n = 1; n <= test_support::at_most(70, 20); ++n)
            for (int k = 0; k <= 9; ++k)
                for (int reducers : {0, 1, 2, 5}) {
                    auto const tree = grow_greedy_tree(n, d, c, {.transfers = k, .reducers = reducers});
                    REQUIRE(tree_cases::timing_fault(tree) == "");
                    REQUIRE(std::is_sorted(tree.remaining.begin(), tree.remaining.end()));
                    if (k > 0 && d > ticks{0}) REQUIRE(tree_cases::most_transfers(tree) <= k);
                    if (reducers > 0) REQUIRE(tree_cases::reducers(tree) <= reducers);
                }
}

TEST_CASE("a limit that does not bind changes nothing, and a tighter one never helps") {
    for (auto const& [d, c] : all_costs())
        for (int n = 2; n <= 60; ++n) {
            auto const free = grow_greedy_tree(n, d, c);
            CHECK(grow_greedy_tree(n, d, c, {.transfers = n}).parent == free.parent);
            CHECK(grow_greedy_tree(n, d, c, {.reducers = n}).parent == free.parent);
            for (int k = 1; k < n; ++k) {
                CHECK(grow_greedy_tree(n, d, c, {.transfers = k}).finish >=
                      grow_greedy_tree(n, d, c, {.transfers = k + 1}).finish);
                CHECK(grow_greedy_tree(n, d, c, {.reducers = k}).finish >=
                      grow_greedy_tree(n, d, c, {.reducers = k + 1}).finish);
            }
        }
}

TEST_CASE("Proposition 8 and Corollary 11 hold for powers of two, and not in general") {
    for (auto const& [d, c] : all_costs())
        for (int n = 2; n <= test_support::at_most(120, 30); ++n)
            for (int k = 1; k <= n / 2; k *= 2) {
                ticks const bound = limited_steps(n, k) * (d + c);
                CHECK(grow_greedy_tree(n, d, c, {.transfers = k}).finish <= bound);
                CHECK(grow_greedy_tree(n, d, c, {.reducers = k}).finish <= bound);
            }
    CHECK(limited_steps(6, 3) == 2);
    CHECK(length(6, 1, 0, {.transfers = 3}) == 3);
}

TEST_CASE("what replaces Proposition 8 and Corollary 11 holds for every K, and no less would do") {
    for (int n = 2; n <= test_support::at_most(120, 30); ++n)
        for (int k = 1; k <= n / 2; ++k) {
            for (auto const& [d, c] : all_costs()) {
                CHECK(grow_greedy_tree(n, d, c, {.transfers = k}).finish <= repaired_steps(n, k) * (d + c));
                CHECK(grow_greedy_tree(n, d, c, {.reducers = k}).finish <= repaired_steps(n, k) * (d + c));
            }
            CHECK(repaired_steps(n, k) >= limited_steps(n, k));
            CHECK(length(n, 1, 0, {.transfers = k}) == repaired_steps(n, k));
            if (std::has_single_bit(static_cast<unsigned>(k)))
                CHECK(repaired_steps(n, k) == limited_steps(n, k));
        }
}

TEST_CASE(
    "where transfers take no less than combining, a limit on reducers limits transfers, too (Theorem 10)") {
    for (auto const& [d, c] : all_costs())
        for (int n = 2; n <= test_support::at_most(80, 20) && d >= c; ++n)
            for (int k = 1; k <= n; ++k) {
                auto const tree = grow_greedy_tree(n, d, c, {.reducers = k});
                REQUIRE(tree_cases::most_transfers(tree) <= k);
                REQUIRE(tree.finish == grow_greedy_tree(n, d, c, {.transfers = k}).finish);
            }
}

TEST_CASE("only the ratio of the costs counts") {
    for (auto const& [d, c] : all_costs())
        for (int n = 1; n <= 100; ++n) {
            auto const tree = grow_greedy_tree(n, d, c);
            auto const scaled = grow_greedy_tree(n, 1'000'003 * d, 1'000'003 * c);
            CHECK(scaled.parent == tree.parent);
            CHECK(scaled.finish == 1'000'003 * tree.finish);
        }
}

TEST_CASE("free transfers and combinations give the balanced tree, which takes no time") {
    for (int n = 1; n <= 40; ++n) {
        auto const tree = grow_greedy_tree(n, ticks{0}, ticks{0});
        CHECK(tree.parent == grow_greedy_tree(n, ticks{1}, ticks{0}).parent);
        CHECK(tree.finish == ticks{0});
    }
}

TEST_CASE("transfers are listed as they begin") {
    // Figure 1 of the paper: four machines, both costs 1; two transfers overlap with a combination
    auto const all = tree_transfers(grow_greedy_tree(4, ticks{10}, ticks{10}));
    REQUIRE(all.size() == 3);
    CHECK(std::is_sorted(all.begin(), all.end(), [](auto a, auto b) { return a.begin < b.begin; }));
    CHECK(all.back().to == 0);
    CHECK(all.back().end == ticks{30});
    papcoll::rank_tree const placed{grow_greedy_tree(2, ticks{3}, ticks{4}), {5, 6}};
    CHECK(tree_transfers(placed) == std::vector{papcoll::tree_transfer{6, 5, ticks{0}, ticks{3}}});
    CHECK(placed.tree.finish == ticks{7});
}

TEST_CASE("arguments that cannot be are named") {
    auto const thrown = [](auto call, char const* text) {
        CHECK_THROWS_WITH_AS((void)call(), doctest::Contains(text), std::invalid_argument);
    };
    ticks const one{1};
    thrown([&] { return grow_greedy_tree(0, one, one); }, "machine");
    thrown([&] { return grow_greedy_tree(3, ticks{-1}, one); },
           "transfer_time must not be negative, but it is -1");
    thrown([&] { return grow_greedy_tree(3, one, ticks{-2}); }, "compute_time");
    thrown([&] { return grow_greedy_tree(3, ticks::max() / 4, one); }, "leave room");
    thrown([&] { return grow_greedy_tree(3, one, ticks::max() / 4); }, "leave room");
    thrown([&] { return grow_greedy_tree(3, one, one, {.transfers = -1}); }, "max_transfers");
    thrown([&] { return grow_greedy_tree(3, one, one, {.reducers = -1}); }, "max_reducers");
    CHECK(grow_greedy_tree(3, ticks::max() / 32, one, {.transfers = 1}).finish > ticks{0});
}
