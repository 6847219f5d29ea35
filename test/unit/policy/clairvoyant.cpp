// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/arrival/patterns.hpp>
#include <papcoll/policy/clairvoyant.hpp>
#include <papcoll/policy/plan_cache.hpp>
#include <papcoll/policy/scheduled.hpp>
#include <papcoll/scheduler/clairvoyant.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>

#include "../../support/program_lists.hpp"

using papcoll::call_shape;
using papcoll::clairvoyant;
using papcoll::link_model;
using papcoll::ticks;

namespace {

link_model const slow{ticks(50'000), 84.0};

auto shape_of(int ranks, int rank, std::size_t count) -> call_shape {
    call_shape shape{.ranks = ranks, .rank = rank};
    shape.count = count;
    shape.element_bytes = 4;
    return shape;
}

/// The archetype of a block policy.
struct nothing {
    static constexpr auto provides(papcoll::collective_kind) -> bool { return true; }
    static constexpr bool reorders_operands = false;
    [[nodiscard]] auto name() const -> char const* { return "nothing"; }
    void check(call_shape const&) const {}
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return std::nullopt;
    }
    [[nodiscard]] auto plan(call_shape const&, link_model const&) const -> papcoll::program { return {}; }
};
struct does_not_say_what_it_provides {
    [[maybe_unused]] static constexpr bool reorders_operands = false;
    [[nodiscard]] auto name() const -> char const* { return "nothing"; }
    void check(call_shape const&) const {}
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return std::nullopt;
    }
    [[nodiscard]] auto plan(call_shape const&, link_model const&) const -> papcoll::program { return {}; }
};
struct plans_a_schedule : nothing {
    [[nodiscard]] auto plan(call_shape const&, link_model const&) const -> papcoll::rank_schedule {
        return {};
    }
};
struct provides_at_run_time : nothing {
    auto provides(papcoll::collective_kind) const -> bool { return true; }
};
struct says_no_order : nothing {
    [[maybe_unused]] static constexpr int reorders_operands = 0;
};

} // namespace

TEST_CASE("the policy concept takes its archetype and refuses near misses") {
    CHECK(papcoll::block_policy<nothing>);
    CHECK(papcoll::block_policy<clairvoyant>);
    CHECK(papcoll::block_policy<papcoll::scheduled<papcoll::clairvoyant_scheduler<>>>);
    CHECK_FALSE(papcoll::block_policy<does_not_say_what_it_provides>);
    CHECK_FALSE(papcoll::block_policy<provides_at_run_time>);
    CHECK_FALSE(papcoll::block_policy<plans_a_schedule>);
    CHECK_FALSE(papcoll::block_policy<says_no_order>);
    CHECK_FALSE(papcoll::block_policy<papcoll::clairvoyant_scheduler<>>);
}

TEST_CASE("known arrivals never cost rounds after the last arrival") {
    for (int const ranks : {2, 3, 7, 8, 13, 16})
        for (auto const shape : papcoll::all_arrival_shapes())
            for (int const percent : {25, 50, 100, 150, 400}) {
                CAPTURE(ranks);
                CAPTURE(to_string(shape));
                CAPTURE(percent);
                auto const call = shape_of(ranks, ranks / 2, 1 << 20);
                clairvoyant blind{.arrivals = {}, .round = {}, .segments = 64};
                auto const together = blind.choose(call, slow);
                auto const spread = together.rounds_after_last_arrival * together.round * percent / 100;
                clairvoyant informed = blind;
                informed.arrivals = papcoll::arrival_pattern(shape, ranks, spread, 3);
                auto const chosen = informed.choose(call, slow);
                CHECK(chosen.rounds_after_last_arrival <= together.rounds_after_last_arrival);
                CHECK(chosen.rounds_after_last_arrival >= 1);
                if (!chosen.uses_arrivals) CHECK(chosen.share == together.share);
            }
}

TEST_CASE("what is left open comes from the link, the same on every rank") {
    for (std::size_t const count :
         {std::size_t(1), std::size_t(1000), std::size_t(1) << 20, std::size_t(1) << 34}) {
        auto const first = clairvoyant{}.choose(shape_of(8, 0, count), slow);
        auto const other = clairvoyant{}.choose(shape_of(8, 5, count), slow);
        CHECK(first.segments == other.segments);
        CHECK(first.round == other.round);
        CHECK(first.segments >= 1);
        CHECK(static_cast<std::size_t>(first.segments) <= count);
        papcoll::block_partition const partition{count, first.segments};
        CHECK(first.round >= slow.transfer_time(partition.largest() * 4));
    }
    // 4 MiB on 100 Mbit/s: √(3 · 352 ms / 50 µs) segments
    CHECK(clairvoyant{}.choose(shape_of(8, 0, 1 << 20), slow).segments == 144);
    // as many at most as a plan has room for
    auto const endless = shape_of(8, 0, std::numeric_limits<std::size_t>::max() / 8);
    CHECK(clairvoyant{}.choose(endless, slow).segments == papcoll::detail::most_blocks(endless));
    CHECK(clairvoyant{}.choose(shape_of(8, 0, 1 << 20), link_model{}).segments >= 1);
    CHECK(clairvoyant{}.choose(shape_of(1, 0, 1 << 20), slow).rounds_after_last_arrival == 0);
}

TEST_CASE("plans are kept for equal policies and shapes, and for no others") {
    papcoll::detail::plan_cache cache;
    auto const shape = shape_of(5, 1, 1000);
    clairvoyant const policy{.arrivals = {}, .round = ticks(1000), .segments = 4};
    auto const plan = cache.plan(policy, shape, slow).what;
    CHECK(cache.plan(policy, shape, slow).what == plan);
    auto other = policy;
    other.segments = 5;
    CHECK(cache.plan(other, shape, slow).what != plan);
    other = policy;
    other.arrivals = std::vector<ticks>(5);
    CHECK(cache.plan(other, shape, slow).what != plan);
    auto moved = shape;
    moved.root = 1;
    CHECK(cache.plan(policy, moved, slow).what != plan);
    CHECK(cache.plan(policy, shape, slow).what == plan);
    auto const blocks = [&](auto const& how) {
        return program_lists::count(*cache.plan(how, shape, slow).what, papcoll::program::action::send);
    };
    for (int segments = 10; segments < 40; ++segments) {
        other = policy;
        other.segments = segments;
        CHECK(blocks(other) == static_cast<std::size_t>(segments)); // each is given away once
    }
    CHECK(blocks(policy) == 4); // computed anew
    papcoll::scheduled<papcoll::clairvoyant_scheduler<>> const own{
        .algorithm = {}, .segments = 4, .arrivals = {}};
    CHECK(blocks(own) == 4);
}
