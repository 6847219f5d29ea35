// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/analysis/simulate.hpp>
#include <papcoll/analysis/verify.hpp>
#include <papcoll/scheduler/arrival_broadcast.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

namespace {

using papcoll::arrival_broadcast_scheduler;
using papcoll::problem;
using papcoll::ticks;
using papcoll::transfer;

static_assert(papcoll::scheduler<arrival_broadcast_scheduler>);

auto drawn_arrivals(int ranks, std::mt19937_64& random, std::int64_t largest) -> std::vector<ticks> {
    std::vector<ticks> arrivals;
    for (int rank = 0; rank < ranks; ++rank)
        arrivals.emplace_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(largest)) -
                              largest / 3);
    return arrivals;
}

} // namespace

TEST_CASE("every rank gets every block once, one at a time, whatever the arrivals") {
    std::mt19937_64 random(1);
    for (int const ranks : {1, 2, 3, 5, 8, 13, 30})
        for (int const blocks : {1, 2, 7, 20})
            for (std::int64_t const largest : {std::int64_t{1}, std::int64_t{5000}, std::int64_t{1} << 61}) {
                auto const arrivals = drawn_arrivals(ranks, random, largest);
                problem const p{.ranks = ranks,
                                .root = static_cast<int>(random() % static_cast<unsigned>(ranks)),
                                .blocks = blocks,
                                .arrivals = arrivals};
                auto const all = arrival_broadcast_scheduler{.round = ticks{100}}.transfers(p);
                CAPTURE(ranks);
                CAPTURE(blocks);
                CHECK_FALSE(papcoll::verify_dissemination(all, p).has_value());
                CHECK(all.size() == static_cast<std::size_t>((ranks - 1) * blocks));
            }
}

TEST_CASE("one block that all wait for doubles from round to round") {
    for (int ranks = 2; ranks <= 70; ++ranks) {
        auto const all = arrival_broadcast_scheduler{}.transfers({.ranks = ranks, .root = ranks / 2});
        CHECK(all.back().step + 1 == std::bit_width(static_cast<unsigned>(ranks - 1)));
    }
}

TEST_CASE("a late receiver gets all blocks as fast as its link, and nobody waits for it") {
    for (int const ranks : {3, 8, 13})
        for (int const blocks : {1, 4, 16}) {
            std::vector<ticks> arrivals(static_cast<std::size_t>(ranks));
            arrivals.back() = ticks{1'000'000};
            problem const p{.ranks = ranks, .blocks = blocks, .arrivals = arrivals};
            auto const all = arrival_broadcast_scheduler{.round = ticks{1000}}.transfers(p);
            auto const exits =
                papcoll::simulate(all, p, {.latency = ticks{1000}}, 1, papcoll::schedule_kind::dissemination);
            CHECK(exits.back() == ticks{1'000'000 + 1000 * blocks});
            for (int rank = 0; rank < ranks - 1; ++rank)
                if (rank > 0) CHECK(exits[static_cast<std::size_t>(rank)] < ticks{1'000'000});
        }
}

TEST_CASE("nothing is sent before the root is there") {
    std::vector<ticks> const arrivals{ticks{0}, ticks{0}, ticks{5'000'000}, ticks{0}};
    problem const p{.ranks = 4, .root = 2, .blocks = 3, .arrivals = arrivals};
    auto const all = arrival_broadcast_scheduler{.round = ticks{10}}.transfers(p);
    CHECK(all.front().from == 2);
    CHECK_FALSE(papcoll::verify_dissemination(all, p).has_value());
}

TEST_CASE("malformed problems are refused") {
    CHECK_THROWS_AS((void)arrival_broadcast_scheduler{.round = ticks{0}}.transfers({.ranks = 2}),
                    std::invalid_argument);
    CHECK_THROWS_AS((void)arrival_broadcast_scheduler{}.transfers({.ranks = 0}), std::invalid_argument);
    std::vector<int> const owners{1};
    CHECK_THROWS_AS(
        (void)arrival_broadcast_scheduler{}.transfers({.ranks = 2, .blocks = 1, .owners = owners}),
        std::invalid_argument);
}
