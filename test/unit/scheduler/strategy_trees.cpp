// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/scheduler/binomial_tree.hpp>
#include <papcoll/scheduler/fibonacci_tree.hpp>
#include <papcoll/scheduler/greedy_tree.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "support/tree_cases.hpp"
#include "support/tree_exhaustive.hpp"

namespace {

using papcoll::grow_greedy_tree;
using papcoll::problem;
using papcoll::reduction_tree;
using papcoll::ticks;
using tree_cases::all_costs;

template <class Scheduler>
auto tree_of(int n) -> reduction_tree {
    return Scheduler{}.placed(problem{.ranks = n}).tree;
}
auto binomial(int n) -> reduction_tree { return tree_of<papcoll::binomial_tree_scheduler>(n); }
auto fibonacci(int n) -> reduction_tree { return tree_of<papcoll::fibonacci_tree_scheduler>(n); }

/// The tree in which the sink of `sender` sends to the sink of `receiver`, and nothing else is new.
auto joined(std::string const& receiver, std::string const& sender) -> std::string {
    std::vector<std::string> children{sender};
    int depth = 0;
    for (std::size_t i = 1, begin = 1; i + 1 < receiver.size(); ++i) {
        depth += receiver[i] == '(' ? 1 : -1;
        if (depth == 0) {
            children.push_back(receiver.substr(begin, i + 1 - begin));
            begin = i + 1;
        }
    }
    std::sort(children.begin(), children.end());
    std::string text = "(";
    for (auto const& child : children) text += child;
    return text + ")";
}

/// The shapes of all trees that reduce n values in the least time.
auto optimal_shapes(int n, ticks d, ticks c) -> std::set<std::string> {
    problem const p{.ranks = n};
    tree_exhaustive::evaluator evaluate(p, d, c);
    std::set<std::string> shapes;
    ticks const least = grow_greedy_tree(n, d, c).finish;
    tree_exhaustive::for_each_tree(p, [&](std::vector<int> const& receiver) {
        if (evaluate.end(receiver) != least) return;
        std::vector<std::vector<int>> senders(receiver.size());
        for (std::size_t i = 1; i < receiver.size(); ++i)
            senders[static_cast<std::size_t>(receiver[i])].push_back(static_cast<int>(i));
        auto const text = [&](auto const& self, int rank) -> std::string {
            std::vector<std::string> children;
            for (int const sender : senders[static_cast<std::size_t>(rank)])
                children.push_back(self(self, sender));
            std::sort(children.begin(), children.end());
            std::string all = "(";
            for (auto const& child : children) all += child;
            return all + ")";
        };
        shapes.insert(text(text, 0));
    });
    return shapes;
}

} // namespace

TEST_CASE("Definition 12 and Proposition 13: binomial trees at powers of two, k (d + c) long") {
    std::string expected = "()";
    for (int k = 0; k <= 9; ++k, expected = joined(expected, expected)) {
        auto const tree = binomial(1 << k);
        CHECK(tree_cases::shape(tree) == expected);
        for (auto const& [d, c] : all_costs()) CHECK(retimed(tree, d, c).finish == k * (d + c));
    }
}

TEST_CASE("Theorem 14: without transfers or combinations no more than 2^k values are reduced in k steps") {
    for (auto const& [d, c] :
         {tree_cases::costs{ticks{3}, ticks{0}}, tree_cases::costs{ticks{0}, ticks{3}}}) {
        for (int k = 0; k <= 12; ++k) {
            CHECK(grow_greedy_tree(1 << k, d, c).finish == k * (d + c));
            CHECK(grow_greedy_tree((1 << k) + 1, d, c).finish > k * (d + c));
        }
        for (int const n : {2, 4}) CHECK(optimal_shapes(n, d, c) == std::set{tree_cases::shape(binomial(n))});
    }
    CHECK(optimal_shapes(8, ticks{1}, ticks{0}) == std::set{tree_cases::shape(binomial(8))});
    CHECK(optimal_shapes(5, ticks{1}, ticks{0}).size() > 1); // elsewhere there are several
}

TEST_CASE("Definition 15 and Proposition 16: Fibonacci trees at the Fibonacci numbers") {
    std::string smaller = "()";
    std::string expected = "()";
    int previous = 1;
    int n = 1;
    for (int k = 1; k <= 13; ++k) {
        auto const next = joined(expected, smaller);
        smaller = expected;
        expected = next;
        n += previous;
        previous = n - previous;
        CAPTURE(n);
        auto const tree = fibonacci(n);
        CHECK(tree_cases::shape(tree) == expected);
        for (auto const& [d, c] : all_costs())
            CHECK(retimed(tree, d, c).finish == d + (k - 1) * std::max(d, c) + c);
        // Theorem 17
        ticks const finish = (k + 1) * ticks{7};
        CHECK(grow_greedy_tree(n, ticks{7}, ticks{7}).finish == finish);
        CHECK(grow_greedy_tree(n + 1, ticks{7}, ticks{7}).finish > finish);
        if (n <= 5) CHECK(optimal_shapes(n, ticks{1}, ticks{1}) == std::set{expected});
    }
    CHECK(optimal_shapes(8, ticks{1}, ticks{1}) == std::set{tree_cases::shape(fibonacci(8))});
}

TEST_CASE("Theorems 18 and 19: the ratios to the optimum") {
    for (auto const& [d, c] : all_costs())
        for (int n = 1; n <= 500; ++n) {
            auto const least = grow_greedy_tree(n, d, c).finish;
            auto const most = std::max(d, c).count();
            auto const b = retimed(binomial(n), d, c);
            auto const f = retimed(fibonacci(n), d, c);
            CHECK(b.finish * most <= least * (most + std::min(d, c).count()));
            CHECK(f.finish <= 2 * least);
            CHECK(b.finish >= least);
            CHECK(f.finish >= least);
        }
}

TEST_CASE("a tree timed again has right times, and its own under its own costs") {
    for (auto const& [d, c] : all_costs())
        for (int n = 1; n <= 60; ++n) {
            auto const tree = grow_greedy_tree(n, d, c);
            auto const again = retimed(tree, d, c);
            CHECK(again.remaining == tree.remaining);
            CHECK(again.finish == tree.finish);
            for (auto const& strategy : {binomial(n), fibonacci(n)}) {
                auto const timed = retimed(strategy, d, c);
                // the order of children that the strategy chose is the best for any costs
                problem const p{.ranks = n};
                CHECK(tree_exhaustive::evaluator(p, d, c).end(timed.parent) == timed.finish);
            }
        }
}
