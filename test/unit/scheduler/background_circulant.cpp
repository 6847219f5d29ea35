// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/analysis/metrics.hpp>
#include <papcoll/scheduler/background_circulant.hpp>
#include <papcoll/scheduler/circulant_all_gather.hpp>
#include <papcoll/scheduler/ring.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <support/background_model.hpp>
#include <vector>

#include "../../support/sanitized.hpp"
#include "dissemination_cases.hpp"

namespace {

using papcoll::background_circulant_scheduler;
using papcoll::problem;
using papcoll::ticks;

static_assert(papcoll::background_scheduler<background_circulant_scheduler>);

constexpr ticks tau{1'000'000};

auto rounds(int ranks) -> int { return static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1))); }
// (1 + (q−1)/n) τ, with pieces of whole ticks.
auto one_broadcast(int ranks, int pieces) -> ticks {
    return ticks{(tau.count() + pieces - 1) / pieces * (pieces + rounds(ranks) - 1)};
}
auto model_of(int pieces) -> background_model { return {.per_block = tau / pieces}; }
/// Between the numbers of ranks that are tried.
constexpr int stride = test_support::sanitized ? 7 : 1;

} // namespace

TEST_CASE("all ranks up to 40, random arrivals, any number of pieces: a right dissemination") {
    std::mt19937 random(1);
    for (int p = 1; p <= 40; p += stride)
        for (int const pieces : {1, 2, 5})
            for (long const largest : {0L, 1L, 20L, 200L, 3000L, 1'000'000L}) {
                CAPTURE(p);
                CAPTURE(pieces);
                CAPTURE(largest);
                auto const owned = all_gather_problem(p, pieces, random_arrivals(p, largest, random));
                background_circulant_scheduler const s{.block_time = ticks{10},
                                                       .latency = ticks{largest % 3}};
                auto const all = verified(s, owned.view());
                auto const pre_steps = s.pre_steps(owned.view());
                REQUIRE(pre_steps <= steps_of(all));
                // Nothing of the last rank moves in pre-steps.
                auto const last = std::max_element(owned.arrivals.begin(), owned.arrivals.end());
                int const rank = static_cast<int>(last - owned.arrivals.begin());
                REQUIRE(first_own_step(s.for_rank(owned.view(), rank), owned.view(), rank) >= pre_steps);
            }
}

TEST_CASE("scattered owners, ranks without blocks, one owner of all") {
    std::mt19937 random(2);
    for (int p = 1; p <= 40; p += stride)
        for (int const blocks : {1, p / 2 + 1, 3 * p})
            for (long const largest : {0L, 50L, 2000L}) {
                CAPTURE(p);
                CAPTURE(blocks);
                owned_problem const owned{.ranks = p,
                                          .owners = scattered_owners(p, blocks, random),
                                          .arrivals = random_arrivals(p, largest, random)};
                background_circulant_scheduler const s{.block_time = ticks{10}};
                verified(s, owned.view());
                problem const broadcast{
                    .ranks = p, .root = p / 2, .blocks = blocks, .arrivals = owned.arrivals};
                verified(s, broadcast);
            }
}

TEST_CASE("all together: the all-gather that is optimal in steps and volume") {
    for (int p = 1; p <= 40; p += stride)
        for (int const pieces : {1, 4}) {
            auto owned = all_gather_problem(p, pieces);
            background_circulant_scheduler const s{.block_time = tau};
            auto const all = verified(s, owned.view());
            REQUIRE((all == verified(papcoll::circulant_all_gather_scheduler{}, owned.view())));
            REQUIRE(s.pre_steps(owned.view()) == 0);
            owned.arrivals.assign(static_cast<std::size_t>(p), ticks{77});
            REQUIRE((all == verified(s, owned.view())));
        }
}

TEST_CASE("one late rank costs one pipelined broadcast of its blocks") {
    for (int p = 2; p <= 40; p += stride)
        for (int const pieces : {1, 4, 16}) {
            CAPTURE(p);
            CAPTURE(pieces);
            auto const broadcast = one_broadcast(p, pieces);
            for (int const late : {0, p / 2, p - 1}) {
                auto owned = all_gather_problem(p, pieces);
                owned.arrivals.assign(static_cast<std::size_t>(p), ticks{0});
                owned.arrivals[static_cast<std::size_t>(late)] = broadcast * p;
                background_circulant_scheduler const s{.block_time = tau};
                auto const all = verified(s, owned.view());
                auto const exits = model_of(pieces).exits(all, owned.view());
                REQUIRE(papcoll::last_delay(owned.arrivals, exits) <= broadcast);
                // Steps do not grow with the delay.
                owned.arrivals[static_cast<std::size_t>(late)] = ticks{std::int64_t{1} << 61};
                REQUIRE((all == verified(s, owned.view())));
            }
        }
}

TEST_CASE("in the model it never ends after the ring, whoever is late and by how much") {
    std::mt19937 random(3);
    for (int p = 2; p <= 32; p += stride)
        for (int const pieces : {1, 8})
            for (double const spread : {0.1, 0.7, 2.0, 5.0, 10.0, 30.0, 100.0}) {
                CAPTURE(p);
                CAPTURE(pieces);
                CAPTURE(spread);
                auto const largest = static_cast<long>(spread * static_cast<double>(tau.count()));
                auto owned = all_gather_problem(p, pieces, random_arrivals(p, largest, random));
                if (random() % 3 == 0) // a few are late, the others together
                    for (auto& a : owned.arrivals)
                        if (random() % 4 != 0) a = ticks{0};
                background_circulant_scheduler const s{.block_time = tau};
                auto const p_view = owned.view();
                auto const exits = model_of(pieces).exits(verified(s, p_view), p_view);
                REQUIRE(papcoll::last_delay(owned.arrivals, exits) <= tau * (p - 1));
            }
}

TEST_CASE("it ends when the division into waves says, or before") {
    std::mt19937 random(4);
    for (int p = 2; p <= 40; p += stride)
        for (int const pieces : {1, 3, 10})
            for (double const spread : {0.0, 1.0, 4.0, 12.0, 40.0}) {
                CAPTURE(p);
                CAPTURE(pieces);
                CAPTURE(spread);
                auto const largest = static_cast<long>(spread * static_cast<double>(tau.count()));
                auto const owned = all_gather_problem(p, pieces, random_arrivals(p, largest, random));
                auto const p_view = owned.view();
                auto const latency = tau / (1 + static_cast<int>(random() % 50));
                background_circulant_scheduler const s{.block_time = tau, .latency = latency};
                background_model const model{latency, (tau - latency) / pieces};
                auto const exits = model.exits(verified(s, p_view), p_view);
                papcoll::detail::dissemination_waves const waves(
                    p_view, papcoll::detail::owned_blocks(p_view), {tau, latency});
                REQUIRE(papcoll::run_time(owned.arrivals, exits) <= waves.end());
                auto const ring = (tau - latency) * (p - 1) + latency * rounds(p);
                REQUIRE(waves.end() <= papcoll::imbalance(owned.arrivals) + ring);
            }
}

TEST_CASE("the waves: late ranks one by one, those that come together at once") {
    constexpr int p = 16;
    constexpr int pieces = 8;
    auto const broadcast = one_broadcast(p, pieces);
    background_circulant_scheduler const s{.block_time = tau};
    auto owned = all_gather_problem(p, pieces);
    owned.arrivals.assign(p, ticks{0});
    auto const delay = [&] {
        auto const exits = model_of(pieces).exits(verified(s, owned.view()), owned.view());
        return papcoll::last_delay(owned.arrivals, exits);
    };
    owned.arrivals[3] = 100 * tau;
    owned.arrivals[9] = 200 * tau;
    CHECK(delay() <= broadcast);
    CHECK(s.pre_steps(owned.view()) == 11 + 11); // a wave of fourteen and one of rank 3, n − 1 + q steps each
    owned.arrivals[9] = 100 * tau;
    CHECK(delay() <= 2 * broadcast);
    CHECK(s.pre_steps(owned.view()) == 11);
    owned.arrivals[9] = 100 * tau + tau / 2;
    CHECK(delay() <= 2 * broadcast - tau / 2);
    // A quarter late: at once, and no worse than one after the other.
    for (int const late : {3, 6, 9, 12}) owned.arrivals[static_cast<std::size_t>(late)] = 100 * tau;
    CHECK(delay() <= 4 * broadcast);
    // Late by less than it takes to serve it alone: everybody waits for it.
    owned.arrivals.assign(p, ticks{0});
    owned.arrivals[5] = tau / 10;
    CHECK(s.pre_steps(owned.view()) == 0);
    CHECK(delay() <= tau * (p - 1));
}

TEST_CASE("latency: fewer and larger messages where they are cheaper") {
    auto owned = all_gather_problem(16, 64);
    owned.arrivals.assign(16, ticks{0});
    owned.arrivals[2] = 1000 * tau;
    background_circulant_scheduler s{.block_time = tau};
    CHECK(steps_of(verified(s, owned.view())) == 4 + 67);
    s.latency = tau / 2; // 64 messages would take 32 block times
    CHECK(steps_of(verified(s, owned.view())) == 4 + 4);
}

TEST_CASE("bad parameters and malformed problems are refused") {
    problem const p{.ranks = 3, .blocks = 3};
    auto const refused = [&](ticks block_time, ticks latency) {
        background_circulant_scheduler const s{.block_time = block_time, .latency = latency};
        CHECK_THROWS_AS((void)s.for_rank(p, 0), std::invalid_argument);
        CHECK_THROWS_AS((void)s.pre_steps(p), std::invalid_argument);
    };
    refused(ticks{0}, ticks{0});
    refused(ticks{-1}, ticks{0});
    refused(ticks{5}, ticks{6});
    refused(ticks{5}, ticks{-1});
    refused(ticks::max(), ticks{0});
    background_circulant_scheduler const s;
    CHECK_THROWS_AS((void)s.for_rank(p, -1), std::invalid_argument);
    CHECK_THROWS_AS((void)s.for_rank(problem{.ranks = 0}, 0), std::invalid_argument);
    std::vector const far{ticks{0}, ticks::max(), ticks::min()};
    CHECK_THROWS_AS((void)s.for_rank(problem{.ranks = 3, .blocks = 3, .arrivals = far}, 0),
                    std::invalid_argument);
}
