// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/circulant_choice.hpp>
#include <papcoll/policy/clairvoyant.hpp>
#include <papcoll/policy/members.hpp>
#include <papcoll/policy/plan_writer.hpp>
#include <papcoll/scheduler/bitset/simd_bitset.hpp>
#include <papcoll/scheduler/clairvoyant.hpp>
#include <papcoll/scheduler/search/sliced_counters.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The bitset that a policy of these Bits computes with.
template <class Bits>
struct bitset_in_use {
    using type = Bits;
};
#ifdef PAPCOLL_SEPARATE_COMPILATION
template <>
struct bitset_in_use<compiled_by_papcoll_impl_hpp_bitset> {
    using type = simd_bitset<>;
};
#endif

/// How many segments make a Clairvoyant reduction shortest: N rounds after the last arrival and about ⌈log2
/// P⌉ to fill the pipeline, each of α + mβ/N, and P·N transfers to schedule at κ each: (N + q)·(α + mβ/N) +
/// κPN is smallest at N = √(q·m·β / (α + κP)).
/// In integers, but for one correctly rounded root: all ranks must find the same number.
[[nodiscard]] inline auto clairvoyant_segments(call_shape const& shape, link_model const& link) -> int {
    constexpr std::uint64_t schedule_nanoseconds = 60; // κ
    auto const ranks = static_cast<std::uint64_t>(shape.ranks);
    auto const fill = static_cast<std::uint64_t>(std::max(1, static_cast<int>(std::bit_width(ranks - 1))));
    auto const longest = std::min(shape.bytes(), std::size_t(1) << 50);
    auto const transfer = static_cast<std::uint64_t>((link.transfer_time(longest) - link.latency).count());
    auto const each = static_cast<std::uint64_t>(link.latency.count()) + schedule_nanoseconds * ranks;
    auto const square = fill * std::min(transfer, std::uint64_t(1) << 50) / std::max(each, std::uint64_t(1));
    auto const best = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(square)));
    // In a schedule of P·N transfers that takes no longer than about a second to make.
    auto const scheduled = std::min<std::uint64_t>(4096, (std::uint64_t(1) << 22) / ranks + 1);
    auto const kept = static_cast<std::uint64_t>(most_blocks(shape));
    auto const most = std::min({scheduled, kept, std::max<std::uint64_t>(shape.count, 1)});
    return static_cast<int>(std::clamp<std::uint64_t>(best, 1, most));
}

/// An eighth above the time of one transfer: too short a round breaks the order of the schedule, too long a
/// one only loses a little of the overlap.
[[nodiscard]] inline auto clairvoyant_round(call_shape const& shape, link_model const& link, int segments)
    -> ticks {
    auto const transfer =
        link.planned_time(block_partition{shape.count, segments}.largest() * shape.element_bytes);
    return std::max(ticks(1), transfer + transfer / 8);
}

/// The share of one rank, and how many rounds the whole schedule takes from the last arrival on.
template <class Scheduler>
[[nodiscard]] auto clairvoyant_share(Scheduler const& scheduler, problem const& p, int rank)
    -> clairvoyant_choice {
    clairvoyant_choice result{p.blocks, scheduler.round, {}, 0, !p.arrivals.empty()};
    step_type end = 0;
    scheduler.generate(p, [&](transfer const& t) {
        end = t.step + 1; // transfers come in step order
        if (t.from == rank) result.share.sends.push_back({t.step, t.to, t.block});
        if (t.to == rank) result.share.receives.push_back({t.step, t.from, t.block});
    });
    step_type waited = 0;
    if (!p.arrivals.empty()) {
        auto const [first, last] = std::minmax_element(p.arrivals.begin(), p.arrivals.end());
        waited = (last->count() - first->count()) / scheduler.round.count();
    }
    result.rounds_after_last_arrival = end - waited;
    return result;
}

} // namespace detail

template <class Bits>
void basic_clairvoyant<Bits>::check(call_shape const& shape) const {
    detail::check_arrivals(arrivals, shape.ranks);
    detail::check_segments(segments);
    detail::check_positive("round", round);
}
template <class Bits>
auto basic_clairvoyant<Bits>::fingerprint() const -> std::optional<std::vector<std::int64_t>> {
    return detail::arrivals_key(arrivals, {round.value_or(ticks{0}).count(), segments.value_or(0)});
}
template <class Bits>
auto basic_clairvoyant<Bits>::choose(call_shape const& shape, link_model const& link) const
    -> clairvoyant_choice {
    int const blocks = segments.value_or(detail::clairvoyant_segments(shape, link));
    using bits = typename detail::bitset_in_use<Bits>::type;
    clairvoyant_scheduler<sliced_counters<bits>> const scheduler{
        .round = round.value_or(detail::clairvoyant_round(shape, link, blocks))};
    problem p{.ranks = shape.ranks, .root = shape.root, .blocks = blocks, .arrivals = {}, .owners = {}};
    auto best = detail::clairvoyant_share(scheduler, p, shape.rank);
    if (!arrivals.given()) return best;
    p.arrivals = arrivals.times();
    auto informed = detail::clairvoyant_share(scheduler, p, shape.rank);
    return informed.rounds_after_last_arrival <= best.rounds_after_last_arrival ? informed : best;
}
template <class Bits>
auto basic_clairvoyant<Bits>::plan(call_shape const& shape, link_model const& link) const -> program {
    auto const chosen = choose(shape, link);
    auto const layout = detail::layout_of_root(shape, chosen.segments);
    auto const windows = detail::windows_for(layout.longest() * shape.element_bytes, shape, link);
    plan_writer plan(shape);
    plan.add(schedule_kind::reduction, chosen.share, layout, windows);
    return plan.finish();
}

} // namespace papcoll::inline v0
