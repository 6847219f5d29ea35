// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/scheduler/circulant/receive_blocks.hpp>
#include <papcoll/scheduler/circulant/send_blocks.hpp>
#include <papcoll/scheduler/circulant/skips.hpp>
#include <papcoll/scheduler/circulant/table.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/circulant_conditions.hpp"
#include "support/circulant_oracle.hpp"

namespace {

using papcoll::circulant_skips;

constexpr int largest_p = std::numeric_limits<int>::max();

auto listed(circulant_skips const& skips) -> std::vector<int> {
    std::vector<int> result;
    for (int k = 0; k <= skips.rounds(); ++k) result.push_back(static_cast<int>(skips[k]));
    return result;
}
auto listed(circulant_skips const& skips, papcoll::circulant_blocks const& blocks) -> std::vector<int> {
    std::vector<int> result;
    for (int k = 0; k < skips.rounds(); ++k) result.push_back(blocks[k]);
    return result;
}

auto conditions_hold(circulant_skips const& skips, int rank) -> bool {
    auto const expected = [&](int k) { return receive_blocks(skips, skips.target(rank, k))[k]; };
    return circulant_conditions::hold(skips, rank, receive_blocks(skips, rank), send_blocks(skips, rank),
                                      expected);
}

auto numbers(std::istream& in) -> std::vector<int> {
    std::vector<int> result;
    for (int value = 0; in >> value;) result.push_back(value);
    return result;
}

// A file has for each round the blocks of all ranks.
void check_file(std::string const& name) {
    CAPTURE(name);
    std::ifstream file(PAPCOLL_TEST_DATA "/circulant/" + name);
    int lines = 0;
    circulant_skips skips(1);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string key;
        words >> key;
        int round = 0;
        char colon = 0;
        if (key == "receive" || key == "send") words >> round >> colon;
        auto const values = numbers(words);
        auto const of_ranks = [&](auto const& f) {
            REQUIRE(values.size() == static_cast<std::size_t>(skips.ranks()));
            for (int r = 0; r < skips.ranks(); ++r) CHECK(values[static_cast<std::size_t>(r)] == f(r));
        };
        if (key == "ranks") skips = circulant_skips(values.at(0));
        if (key == "skips") CHECK(listed(skips) == values);
        if (key == "baseblock") of_ranks([&](int r) { return skips.base_block(r); });
        if (key == "receive") of_ranks([&](int r) { return receive_blocks(skips, r)[round]; });
        if (key == "send") of_ranks([&](int r) { return send_blocks(skips, r)[round]; });
        ++lines;
    }
    CHECK(lines == 4 + 2 * skips.rounds());
}

} // namespace

TEST_CASE("skips halve the ranks, rounded up") {
    CHECK(listed(circulant_skips(1)) == std::vector{1});
    CHECK(listed(circulant_skips(2)) == std::vector{1, 2});
    CHECK(listed(circulant_skips(20)) == std::vector{1, 2, 3, 5, 10, 20});
    CHECK(circulant_skips(largest_p).rounds() == circulant_skips::max_rounds);
    CHECK(circulant_skips(largest_p)[30] == 1 << 30);
    CHECK_THROWS_WITH_AS(circulant_skips(0), doctest::Contains("at least 1, but it is 0"),
                         std::invalid_argument);
    CHECK_THROWS_AS(circulant_skips(-5), std::invalid_argument);
}

TEST_CASE("the largest skip within a distance is found") {
    for (int p = 1; p <= 300; ++p) {
        circulant_skips const skips(p);
        for (int distance = 1; distance <= 2 * p; ++distance) {
            int k = skips.rounds();
            while (skips[k] > distance) --k;
            CHECK(skips.largest_within(distance) == k);
        }
    }
}

TEST_CASE("targets and sources are inverse to each other, up to the largest p") {
    for (int const p : {2, 3, 20, largest_p}) {
        circulant_skips const skips(p);
        for (int const rank : {0, 1, p / 2, p - 1})
            for (int k = 0; k < skips.rounds(); ++k) {
                int const to = skips.target(rank, k);
                CHECK((to >= 0 && to < p));
                CHECK(skips.source(to, k) == rank);
            }
    }
}

TEST_CASE("the reference schedules, Table 1 of the paper among them") {
    for (auto const* name : {"p9.txt", "p20.txt", "p33.txt", "p66.txt"}) check_file(name);
}

TEST_CASE("every rank of every p below 330 has the schedule of the paper's own construction") {
    for (int p = 1; p < 330; ++p) {
        CAPTURE(p);
        circulant_oracle const oracle(p);
        circulant_skips const skips(p);
        REQUIRE(listed(skips) == oracle.skips());
        for (int r = 0; r < p; ++r) {
            CAPTURE(r);
            REQUIRE(skips.base_block(r) == oracle.base_block(r));
            REQUIRE(listed(skips, receive_blocks(skips, r)) == oracle.receives(r));
            REQUIRE(listed(skips, send_blocks(skips, r)) == oracle.sends(r));
        }
    }
}

TEST_CASE("the table of all ranks has what each computes alone") {
    for (int const p : {1, 2, 3, 31, 32, 33, 1152}) {
        circulant_skips const skips(p);
        papcoll::circulant_table const table(skips);
        CHECK(table.skips().ranks() == p);
        for (int r = 0; r < p; ++r)
            for (int k = 0; k < skips.rounds(); ++k) {
                REQUIRE(table.receives(r, k) == receive_blocks(skips, r)[k]);
                REQUIRE(table.receives(k)[static_cast<std::size_t>(r)] == table.receives(r, k));
                REQUIRE(table.sends(r, k) == send_blocks(skips, r)[k]);
            }
    }
}

TEST_CASE("schedules are right at random ranks of random p up to the largest") {
    std::mt19937_64 random(3);
    auto const between = [&](int low, int high) {
        return std::uniform_int_distribution<int>(low, high)(random);
    };
    for (int i = 0; i < 4000; ++i) {
        int const bits = between(1, 31); // every magnitude of p alike
        int const p = between(1 << (bits - 1), static_cast<int>((std::int64_t{1} << bits) - 1));
        circulant_skips const skips(p);
        CAPTURE(p);
        for (int const rank : {between(0, p - 1), between(0, p - 1), p - 1}) {
            CAPTURE(rank);
            REQUIRE(conditions_hold(skips, rank));
        }
    }
}

// Where ranges are cut just behind their first ranks the schedules have their exceptions: p = m·2^j + 2^i + δ
// with small odd m, and ranks shortly before the end of a range, which is p or a sum of skips.
TEST_CASE(
    "schedules are right at the ends of ranges, where p is a little more than a multiple of a power of two") {
    std::mt19937_64 random(4);
    auto const between = [&](int low, int high) {
        return std::uniform_int_distribution<int>(low, high)(random);
    };
    for (int i = 0; i < 15000; ++i) {
        std::int64_t p = std::int64_t{2 * between(0, 31) + 1} << between(0, 30);
        if (between(0, 1) == 1) p += std::int64_t{1} << between(0, 28);
        p += between(-3, 3);
        if (p < 2 || p > largest_p) continue;
        circulant_skips const skips(static_cast<int>(p));
        std::int64_t end = p;
        if (between(0, 2) != 0) {
            end = 0;
            for (int k = skips.rounds() - 1; k >= 0; --k)
                if (between(0, 2) == 0 && end + skips[k] <= p) end += skips[k];
        }
        std::int64_t const rank = end - between(0, 9);
        CAPTURE(p);
        CAPTURE(rank);
        if (rank >= 0 && rank < p) REQUIRE(conditions_hold(skips, static_cast<int>(rank)));
    }
}

TEST_CASE("schedules can be computed at compile time") {
    constexpr circulant_skips skips(20);
    constexpr auto receives = receive_blocks(skips, 8);
    constexpr auto sends = send_blocks(skips, 9);
    static_assert(receives[0] == -4 && receives[3] == 2 && receives[4] == -1);
    static_assert(sends[0] == -5 && sends[3] == -2 && sends[4] == 0);
}
