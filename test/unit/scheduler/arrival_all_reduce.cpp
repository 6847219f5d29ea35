// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/analysis/metrics.hpp>
#include <papcoll/analysis/verify.hpp>
#include <papcoll/scheduler/arrival_all_reduce.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <support/all_reduce_model.hpp>
#include <utility>
#include <vector>

#include "../../support/sanitized.hpp"
#include "dissemination_cases.hpp"

namespace {

using papcoll::arrival_all_reduce_scheduler;
using papcoll::problem;
using papcoll::rank_schedule;
using papcoll::step_type;
using papcoll::ticks;
using papcoll::transfer;

struct whole {
    std::vector<int> owners;
    std::vector<transfer> reduction, dissemination;
};

auto rounds(int ranks) -> int { return static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1))); }

void add(std::vector<transfer>& sent, std::vector<transfer>& received, rank_schedule const& share, int rank) {
    auto const by_step = [](auto const& a, auto const& b) { return a.step < b.step; };
    REQUIRE(std::is_sorted(share.sends.begin(), share.sends.end(), by_step));
    REQUIRE(std::is_sorted(share.receives.begin(), share.receives.end(), by_step));
    for (auto const& t : share.sends) sent.push_back({t.step, rank, t.peer, t.block});
    for (auto const& t : share.receives) received.push_back({t.step, t.peer, rank, t.block});
}

// In every step at most one message out of a rank and one into it, the two halves taken together.
void check_one_ported(std::vector<transfer> all, int ranks) {
    std::sort(all.begin(), all.end());
    auto const none = std::pair(step_type{-1}, -1);
    std::vector sends(static_cast<std::size_t>(ranks), none), receives(static_cast<std::size_t>(ranks), none);
    for (auto const& t : all) {
        auto& to = sends[static_cast<std::size_t>(t.from)];
        REQUIRE((to.first != t.step || to.second == t.to));
        to = {t.step, t.to};
        auto& from = receives[static_cast<std::size_t>(t.to)];
        REQUIRE((from.first != t.step || from.second == t.from));
        from = {t.step, t.from};
    }
}

auto verified(arrival_all_reduce_scheduler const& s, problem const& p) -> whole {
    whole all;
    std::vector<transfer> reduced, disseminated;
    for (int rank = 0; rank < p.ranks; ++rank) {
        auto const share = s.for_rank(p, rank);
        if (rank == 0) all.owners = share.owners;
        REQUIRE(share.owners == all.owners);
        add(all.reduction, reduced, share.reduction, rank);
        add(all.dissemination, disseminated, share.dissemination, rank);
    }
    for (auto* list : {&all.reduction, &reduced, &all.dissemination, &disseminated})
        std::sort(list->begin(), list->end());
    REQUIRE((all.reduction == reduced));
    REQUIRE((all.dissemination == disseminated));
    problem const owned{.ranks = p.ranks, .blocks = p.blocks, .owners = all.owners};
    auto const wrong_reduction = verify_reduction(all.reduction, owned);
    REQUIRE_MESSAGE(!wrong_reduction, wrong_reduction.value_or(""));
    auto const wrong_dissemination = verify_dissemination(all.dissemination, owned);
    REQUIRE_MESSAGE(!wrong_dissemination, wrong_dissemination.value_or(""));
    std::vector<step_type> complete(static_cast<std::size_t>(p.blocks), -1);
    for (auto const& t : all.reduction) {
        auto& step = complete[static_cast<std::size_t>(t.block)];
        step = std::max(step, t.step);
    }
    for (auto const& t : all.dissemination) REQUIRE(t.step > complete[static_cast<std::size_t>(t.block)]);
    auto both = all.reduction;
    both.insert(both.end(), all.dissemination.begin(), all.dissemination.end());
    check_one_ported(both, p.ranks);
    return all;
}

auto exits(whole const& all, problem const& p, ticks latency, ticks per_block) -> std::vector<ticks> {
    auto both = all.reduction;
    both.insert(both.end(), all.dissemination.begin(), all.dissemination.end());
    return all_reduce_exits(std::move(both), p, latency, per_block);
}

constexpr ticks transfer_time{10'000'000};

} // namespace

TEST_CASE("all ranks up to 40, any blocks, random arrivals: right, ordered, one-ported") {
    std::mt19937 random(1);
    int aware = 0;
    for (int p = 1; p <= test_support::at_most(40, 13); ++p)
        for (int const blocks : {1, 2, 7, 32})
            for (long const largest : {0L, 50L, 500L, 5000L, 1'000'000L}) {
                CAPTURE(p);
                CAPTURE(blocks);
                CAPTURE(largest);
                auto const arrivals = random_arrivals(p, largest, random);
                problem const task{.ranks = p, .blocks = blocks, .arrivals = arrivals};
                arrival_all_reduce_scheduler const s{.transfer_time = ticks{100},
                                                     .latency = ticks{largest % 3}};
                verified(s, task);
                aware += s.aware(task) ? 1 : 0;
            }
    CHECK(aware > 100);
}

TEST_CASE("one rank is late, whichever: n + q steps of a block after its arrival") {
    for (int p = 2; p <= test_support::at_most(40, 13); ++p)
        for (int const blocks : {1, 5, 40})
            for (int const late : {0, p / 2, p - 1}) {
                CAPTURE(p);
                CAPTURE(blocks);
                CAPTURE(late);
                std::vector<ticks> arrivals(static_cast<std::size_t>(p));
                arrivals[static_cast<std::size_t>(late)] = 20 * transfer_time;
                problem const task{.ranks = p, .blocks = blocks, .arrivals = arrivals};
                arrival_all_reduce_scheduler const s{.transfer_time = transfer_time};
                auto const all = verified(s, task);
                auto const delay =
                    papcoll::last_delay(arrivals, exits(all, task, ticks{0}, transfer_time / blocks));
                // One block has nothing to overlap: that is reduce and broadcast.
                if (s.aware(task)) REQUIRE(delay <= transfer_time / blocks * (blocks + rounds(p)));
                if (blocks == 40) {
                    REQUIRE(s.aware(task) == (p > 2));
                    REQUIRE(delay * 10 <= transfer_time * 12);
                }
            }
}

TEST_CASE("balanced: reduce-scatter and all-gather, with or without arrivals") {
    for (int p = 1; p <= test_support::at_most(40, 13); ++p) {
        CAPTURE(p);
        problem const task{.ranks = p, .blocks = 4 * p};
        arrival_all_reduce_scheduler const s{.transfer_time = transfer_time};
        CHECK_FALSE(s.aware(task));
        auto const all = verified(s, task);
        auto const end = exits(all, task, ticks{0}, transfer_time / (4 * p));
        REQUIRE(*std::max_element(end.begin(), end.end()) == 2 * (p - 1) * 4 * (transfer_time / (4 * p)));
        std::vector const same(static_cast<std::size_t>(p), ticks{-5});
        CHECK_FALSE(s.aware({.ranks = p, .blocks = 4 * p, .arrivals = same}));
    }
}

TEST_CASE("in the model it never ends after reduce-scatter and all-gather") {
    std::mt19937 random(3);
    for (int p = 2; p <= test_support::at_most(33, 13); ++p)
        for (double const spread : {0.2, 1.0, 2.0, 5.0, 40.0})
            for (int const factor : {1, 2}) {
                CAPTURE(p);
                CAPTURE(spread);
                CAPTURE(factor);
                auto const largest = static_cast<long>(spread * static_cast<double>(transfer_time.count()));
                auto const arrivals = random_arrivals(p, largest, random);
                int const blocks = factor * p;
                problem const task{.ranks = p, .blocks = blocks, .arrivals = arrivals};
                auto const latency = transfer_time / 1000;
                arrival_all_reduce_scheduler const s{.transfer_time = transfer_time, .latency = latency};
                auto const piece = transfer_time / blocks;
                auto const delay =
                    papcoll::last_delay(arrivals, exits(verified(s, task), task, latency, piece));
                // Blocks are of whole ticks here and rounded up there.
                REQUIRE(delay <= 2 * (latency * rounds(p) + piece * (p - 1) * factor) + ticks{4 * blocks});
            }
}

TEST_CASE("steps do not depend on how late a rank is; extreme times are refused") {
    std::vector<ticks> arrivals(9);
    arrivals[4] = std::chrono::hours{1};
    problem const task{.ranks = 9, .blocks = 30, .arrivals = arrivals};
    arrival_all_reduce_scheduler const s;
    auto const all = verified(s, task);
    arrivals[4] = ticks{std::int64_t{1} << 61};
    CHECK((verified(s, task).dissemination == all.dissemination));
    CHECK(all.dissemination.back().step < 100);
    arrivals[3] = ticks::min();
    CHECK_THROWS_AS((void)s.for_rank(task, 0), std::invalid_argument);
}

TEST_CASE("bad parameters and malformed problems are refused") {
    problem const task{.ranks = 3, .blocks = 3};
    auto const refused = [&](ticks time, ticks latency) {
        arrival_all_reduce_scheduler const s{.transfer_time = time, .latency = latency};
        CHECK_THROWS_AS((void)s.for_rank(task, 0), std::invalid_argument);
        CHECK_THROWS_AS((void)s.aware(task), std::invalid_argument);
    };
    refused(ticks{0}, ticks{0});
    refused(ticks{-1}, ticks{0});
    refused(ticks{1}, ticks{-1});
    refused(ticks::max(), ticks{0});
    refused(ticks{1}, ticks::max());
    CHECK_THROWS_AS((void)arrival_all_reduce_scheduler{}.for_rank(task, 3), std::invalid_argument);
    CHECK_THROWS_AS((void)arrival_all_reduce_scheduler{}.for_rank(problem{.ranks = 0}, 0),
                    std::invalid_argument);
}
