// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/scheduler/circulant/census.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

#include "../../support/sanitized.hpp"

namespace {

using papcoll::census_round;
using papcoll::circulant_census;

// How often each rank's contribution is in a partial result.
using multiset = std::vector<unsigned>;

auto index(int rank) -> std::size_t { return static_cast<std::size_t>(rank); }

auto all_ranks(int p) -> std::vector<std::vector<census_round>> {
    std::vector<std::vector<census_round>> ranks;
    ranks.reserve(index(p));
    for (int r = 0; r < p; ++r) ranks.push_back(circulant_census(p, r));
    return ranks;
}

// The results of all ranks; nothing if a partial result is sent before there is one, or if a rank does not
// receive from the rank that sends to it.
auto simulate(std::vector<std::vector<census_round>> const& ranks) -> std::optional<std::vector<multiset>> {
    int const p = static_cast<int>(ranks.size());
    auto const add = [](multiset& to, multiset const& from) {
        std::transform(to.begin(), to.end(), from.begin(), to.begin(), std::plus<>{});
    };
    std::vector<multiset> partial(ranks.size(), multiset(ranks.size()));
    for (std::size_t k = 0; k < ranks[0].size(); ++k) {
        auto const before = partial;
        for (int r = 0; r < p; ++r) {
            auto const& mine = ranks[index(r)][k];
            auto const& source = ranks[index(mine.from)][k];
            if (source.to != r || mine.from == r) return {};
            if (k == 0 && !source.own) return {};
            add(partial[index(r)], before[index(mine.from)]);
            if (source.own) ++partial[index(r)][index(mine.from)];
        }
    }
    for (int r = 0; r < p; ++r) ++partial[index(r)][index(r)];
    return partial;
}

auto each_once(std::optional<std::vector<multiset>> const& results) -> bool {
    return results && std::all_of(results->begin(), results->end(), [](multiset const& m) {
               return std::all_of(m.begin(), m.end(), [](unsigned n) { return n == 1; });
           });
}

} // namespace

TEST_CASE("a census gives every rank each contribution once, in the fewest rounds") {
    for (int p = 1; p <= test_support::at_most(300, 70); ++p) {
        CAPTURE(p);
        auto const ranks = all_ranks(p);
        auto const fewest = static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(p - 1)));
        for (auto const& rounds : ranks) REQUIRE(rounds.size() == fewest);
        REQUIRE(each_once(simulate(ranks)));
    }
}

TEST_CASE("a census with a mistake in one entry is found") {
    for (int const p : {2, 5, 8, 11, 20}) {
        auto const right = all_ranks(p);
        for (std::size_t k = 0; k < right[0].size(); ++k) {
            auto ranks = right;
            ranks[index(p / 2)][k].own = !ranks[index(p / 2)][k].own;
            CHECK_FALSE(each_once(simulate(ranks)));
            ranks = right;
            ranks[0][k].from = (ranks[0][k].from + 1) % p;
            CHECK_FALSE(each_once(simulate(ranks)));
        }
    }
}

TEST_CASE("peers of a census agree at the largest number of ranks") {
    constexpr int p = std::numeric_limits<int>::max();
    for (int const rank : {0, 1, 1234567890, p - 1}) {
        auto const rounds = circulant_census(p, rank);
        REQUIRE(rounds.size() == 31);
        for (std::size_t k = 0; k < rounds.size(); ++k) {
            CHECK(circulant_census(p, rounds[k].from)[k].to == rank);
            CHECK(circulant_census(p, rounds[k].to)[k].from == rank);
        }
    }
}

TEST_CASE("wrong arguments of a census are named") {
    auto const ask = [](int ranks, int rank) { static_cast<void>(circulant_census(ranks, rank)); };
    CHECK_THROWS_WITH_AS(ask(5, 5), doctest::Contains("rank must be a rank"), std::invalid_argument);
    CHECK_THROWS_AS(ask(5, -1), std::invalid_argument);
    CHECK_THROWS_WITH_AS(ask(0, 0), doctest::Contains("number of ranks"), std::invalid_argument);
}
