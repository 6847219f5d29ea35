// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/analysis/verify.hpp>
#include <papcoll/scheduler/bine_tree.hpp>
#include <papcoll/scheduler/binomial_tree.hpp>
#include <papcoll/scheduler/reversed.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <vector>

#include "support/tree_cases.hpp"

namespace {

using papcoll::bine_tree_scheduler;
using papcoll::problem;
using papcoll::transfer;

static_assert(papcoll::scheduler<bine_tree_scheduler>);

/// Between two ranks, going round the shorter way.
auto distance(transfer const& t, int ranks) -> int {
    int const d = std::abs(t.from - t.to);
    return std::min(d, ranks - d);
}
template <class Scheduler>
auto way_of_all(problem const& p) -> long long {
    long long sum = 0;
    for (auto const& t : Scheduler{}.transfers(p)) sum += distance(t, p.ranks);
    return sum;
}

/// The paper's definition for 2^s ranks and root 0: rank 0 is numbered 0; the number of a rank in base −2, of
/// s digits, of the rank itself or of the rank − 2^s, whichever has them.
auto negabinary(int rank, int digits) -> unsigned {
    unsigned const mask = 0xAAAAAAAAU;
    for (int const value : {rank, rank - (1 << digits)}) {
        unsigned const number = (mask + static_cast<unsigned>(value)) ^ mask;
        if (number < (1U << static_cast<unsigned>(digits))) return number;
    }
    return ~0U;
}

} // namespace

TEST_CASE("a Bine tree reduces to every root and, turned round, broadcasts, in ⌈log2 P⌉ steps") {
    for (int n = 1; n <= 70; ++n)
        for (int root = 0; root < n; ++root)
            for (int const blocks : {1, 3}) {
                problem const p{.ranks = n, .root = root, .blocks = blocks};
                auto const all = bine_tree_scheduler{}.transfers(p);
                REQUIRE(papcoll::verify_reduction(all, p).value_or("right") == "right");
                auto const back = papcoll::transfers(papcoll::reversed(bine_tree_scheduler{}), p);
                REQUIRE(papcoll::verify_dissemination(back, p).value_or("right") == "right");
                if (blocks == 1 && n > 1) REQUIRE(all.back().step + 1 == tree_cases::ceil_log2(n));
            }
    for (int const n : {100, 127, 128, 129, 1000, 1023, 1025}) {
        auto const all = bine_tree_scheduler{}.transfers({.ranks = n, .root = n / 3});
        CHECK(papcoll::verify_reduction(all, {.ranks = n, .root = n / 3}).value_or("right") == "right");
        CHECK(all.back().step + 1 == tree_cases::ceil_log2(n));
    }
}

TEST_CASE("at powers of two the messages of a round go over the distances 1, 1, 3, 5, 11, …") {
    int const jacobsthal[] = {1, 1, 3, 5, 11, 21, 43, 85, 171, 341};
    for (int k = 1; k <= 10; ++k)
        for (int const root : {0, 1, (1 << k) - 1}) {
            int const n = 1 << k;
            for (auto const& t : bine_tree_scheduler{}.transfers({.ranks = n, .root = root}))
                CHECK(distance(t, n) == jacobsthal[t.step]);
        }
}

TEST_CASE("at powers of two it is the paper's tree: who sends flips all digits that its step leaves") {
    for (int s = 1; s <= 8; ++s) {
        int const n = 1 << s;
        for (auto const& t : bine_tree_scheduler{}.transfers({.ranks = n})) {
            // Going down, the receiver of round i has s − i equal digits at its end, and the sender the same
            // number with these flipped.
            auto const digits = static_cast<unsigned>(t.step) + 1;
            auto const low = (1U << digits) - 1;
            auto const child = negabinary(t.from, s), parent = negabinary(t.to, s);
            CHECK((child ^ parent) == low);
            CHECK(((child & low) == low || (child & low) == 0));
        }
    }
}

TEST_CASE("subtrees are ranks in a row, and the messages go two thirds as far as a binomial tree's") {
    for (int n = 2; n <= 130; ++n) {
        problem const p{.ranks = n, .root = n / 3};
        std::vector<std::set<int>> held;
        for (int r = 0; r < n; ++r) held.push_back({r});
        for (auto const& t : bine_tree_scheduler{}.transfers(p)) {
            auto const& part = held[static_cast<std::size_t>(t.from)];
            int ends = 0;
            for (int const r : part) ends += part.contains((r + 1) % n) ? 0 : 1;
            CHECK(ends == 1);
            held[static_cast<std::size_t>(t.to)].insert(part.begin(), part.end());
        }
        CHECK(way_of_all<bine_tree_scheduler>(p) <= way_of_all<papcoll::binomial_tree_scheduler>(p));
    }
    problem const p{.ranks = 1024};
    CHECK(3 * way_of_all<bine_tree_scheduler>(p) <=
          2 * way_of_all<papcoll::binomial_tree_scheduler>(p) + 3 * 1024);
}
