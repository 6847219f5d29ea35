// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/scheduler/butterfly.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

namespace {

using papcoll::butterfly;
using papcoll::butterfly_round;
using work = butterfly_round::work;

/// A partial result: who combined what with what.
struct term {
    int first, last; // the ranks, which follow each other
    std::shared_ptr<term const> left, right;
};
using value = std::shared_ptr<term const>;

auto index(int rank) -> std::size_t { return static_cast<std::size_t>(rank); }

auto combine(value const& left, value const& right) -> value {
    if (!left || !right || left->last + 1 != right->first) return nullptr;
    return std::make_shared<term const>(term{left->first, right->last, left, right});
}
auto same(value const& a, value const& b) -> bool {
    if (a == b) return true;
    if (!a || !b || a->first != b->first || a->last != b->last || !a->left || !b->left) return false;
    return same(a->left, b->left) && same(a->right, b->right);
}

auto all_ranks(int p) -> std::vector<std::vector<butterfly_round>> {
    std::vector<std::vector<butterfly_round>> ranks;
    for (int r = 0; r < p; ++r) ranks.push_back(butterfly(p, r));
    return ranks;
}

/// What all ranks hold at the end, each round as soon as both peers are there; nothing if two ranks do not
/// fit, wait for each other for ever, or combine what are no neighbours in rank order.
auto simulate(std::vector<std::vector<butterfly_round>> const& ranks) -> std::optional<std::vector<value>> {
    std::vector<value> held;
    std::vector<std::size_t> next(ranks.size());
    for (int r = 0; r < static_cast<int>(ranks.size()); ++r)
        held.push_back(std::make_shared<term const>(term{r, r, nullptr, nullptr}));
    auto const open = [&](std::size_t r) { return next[r] < ranks[r].size(); };
    for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t a = 0; a < ranks.size(); ++a) {
            if (!open(a) || !ranks[a][next[a]].sends()) continue;
            auto const mine = ranks[a][next[a]];
            auto const b = index(mine.peer);
            if (!open(b) || index(ranks[b][next[b]].peer) != a) continue;
            auto const theirs = ranks[b][next[b]];
            auto const sum = a < b ? combine(held[a], held[b]) : combine(held[b], held[a]);
            if (mine.what == work::exchange && theirs.what == work::exchange)
                held[a] = held[b] = sum;
            else if (mine.what == work::give && theirs.what == work::take)
                held[b] = sum;
            else if (mine.what == work::tell && theirs.what == work::learn)
                held[b] = held[a];
            else
                return {};
            if (!held[b]) return {};
            ++next[a];
            ++next[b];
            moved = true;
        }
    }
    for (std::size_t r = 0; r < ranks.size(); ++r)
        if (open(r)) return {};
    return held;
}

/// All operands once, in rank order, in the same brackets everywhere.
auto is_right(std::vector<std::vector<butterfly_round>> const& ranks) -> bool {
    auto const results = simulate(ranks);
    if (!results) return false;
    for (auto const& v : *results)
        if (v->first != 0 || v->last != static_cast<int>(ranks.size()) - 1 || !same(v, results->front()))
            return false;
    return true;
}

} // namespace

TEST_CASE("a butterfly combines each operand once, in rank order, with the same brackets everywhere") {
    for (int p = 1; p <= 300; ++p) {
        CAPTURE(p);
        REQUIRE(is_right(all_ranks(p)));
    }
}

TEST_CASE("its rounds are the logarithm, and two more unless the ranks are a power of two") {
    for (int p = 1; p <= 300; ++p) {
        auto const bits = index(static_cast<int>(std::bit_width(static_cast<unsigned>(p))) - 1);
        std::size_t longest = 0;
        for (auto const& rounds : all_ranks(p)) longest = std::max(longest, rounds.size());
        CHECK(longest == bits + (std::has_single_bit(static_cast<unsigned>(p)) ? 0 : 2));
    }
}

TEST_CASE("a butterfly with a mistake in one entry is found") {
    for (int const p : {2, 5, 8, 11, 20}) {
        auto const right = all_ranks(p);
        for (int r = 0; r < p; ++r)
            for (std::size_t k = 0; k < right[index(r)].size(); ++k) {
                auto ranks = right;
                ranks[index(r)][k].peer = (ranks[index(r)][k].peer + 1) % p;
                CHECK_FALSE(is_right(ranks));
                ranks = right;
                ranks[index(r)].erase(ranks[index(r)].begin() + static_cast<std::ptrdiff_t>(k));
                CHECK_FALSE(is_right(ranks));
            }
    }
}

TEST_CASE("ranks that do not exist have no butterfly") {
    CHECK_THROWS_AS((void)butterfly(0, 0), std::invalid_argument);
    CHECK_THROWS_AS((void)butterfly(4, 4), std::invalid_argument);
    CHECK_THROWS_AS((void)butterfly(4, -1), std::invalid_argument);
    CHECK(butterfly(2147483647, 2147483646).size() == 30);
}
