// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/impl.hpp>
#include <papcoll/policy/background_circulant.hpp>
#include <papcoll/policy/background_ring.hpp>
#include <papcoll/policy/circulant.hpp>
#include <papcoll/policy/circulant_choice.hpp>
#include <papcoll/policy/members.hpp>
#include <papcoll/policy/plan_writer.hpp>
#include <papcoll/policy/whole_parts.hpp>
#include <papcoll/schedule/problem.hpp>
#include <papcoll/scheduler/background_circulant.hpp>
#include <papcoll/scheduler/background_ring.hpp>
#include <papcoll/scheduler/neighbor_exchange.hpp>
#include <papcoll/scheduler/ring.hpp>
#include <papcoll/scheduler/scheduler_ref.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The all-gather of a scheduler that moves each rank's part as a whole.
[[nodiscard]] inline auto whole_parts_plan(scheduler_ref algorithm, call_shape const& shape,
                                           link_model const& link, std::span<ticks const> arrivals = {})
    -> program {
    auto const windows = windows_for(largest_part(shape) * shape.element_bytes, shape, link);
    plan_writer plan(shape);
    plan.add(algorithm, layout_of_ranks(shape), windows, arrivals);
    return plan.finish();
}

template <class Scheduler>
auto whole_parts<Scheduler>::name() const -> std::string_view {
    return Scheduler::name;
}
template <class Scheduler>
auto whole_parts<Scheduler>::plan(call_shape const& shape, link_model const& link) const -> program {
    return whole_parts_plan(Scheduler{}, shape, link);
}

} // namespace detail

PAPCOLL_IMPL void background_ring::check(call_shape const& shape) const {
    detail::check_arrivals(arrivals, shape.ranks);
    detail::check_positive("block_time", block_time);
}
PAPCOLL_IMPL auto background_ring::fingerprint() const -> std::optional<std::vector<std::int64_t>> {
    return detail::arrivals_key(arrivals, {block_time.value_or(ticks{0}).count()});
}
PAPCOLL_IMPL auto background_ring::plan(call_shape const& shape, link_model const& link) const -> program {
    background_ring_scheduler const algorithm{detail::block_time_of(block_time, shape, link)};
    return detail::whole_parts_plan(algorithm, shape, link, arrivals.times());
}

PAPCOLL_IMPL void background_circulant::check(call_shape const& shape) const {
    detail::check_arrivals(arrivals, shape.ranks);
    detail::check_positive("block_time", block_time);
    detail::check_segments(segments);
}
PAPCOLL_IMPL auto background_circulant::fingerprint() const -> std::optional<std::vector<std::int64_t>> {
    return detail::arrivals_key(arrivals, {block_time.value_or(ticks{0}).count(), segments.value_or(0)});
}
PAPCOLL_IMPL auto background_circulant::blocks(call_shape const& shape, link_model const& link) const -> int {
    // Twice as many blocks of half the size were no faster, and cost the processors twice as much.
    constexpr std::size_t least_block_bytes = std::size_t(16) << 10;
    constexpr std::int64_t most_blocks = 12'000; // of all ranks: a plan of 1 MB
    if (segments) return *segments;
    auto const bytes = detail::largest_part(shape) * shape.element_bytes;
    auto const most = std::max<std::int64_t>(static_cast<std::int64_t>(bytes / least_block_bytes), 1);
    int const rounds = circulant_skips(shape.ranks).rounds();
    auto const time = detail::block_time_of(block_time, shape, link);
    auto const best =
        detail::theorem_2_blocks(rounds, static_cast<double>(time.count()), detail::round_latency(link));
    auto const room = std::max<std::int64_t>(most_blocks / shape.ranks, 1);
    return static_cast<int>(std::clamp<std::int64_t>(best, 1, std::min(most, room)));
}
PAPCOLL_IMPL auto background_circulant::plan(call_shape const& shape, link_model const& link) const
    -> program {
    if (!arrivals.given() && !segments) return circulant{}.plan(shape, link);
    auto const time = detail::block_time_of(block_time, shape, link);
    background_circulant_scheduler const algorithm{time, std::min(link.latency, time)};
    int const n = blocks(shape, link);
    auto const bytes = detail::largest_part(shape) * shape.element_bytes;
    auto const layout = detail::layout_of_ranks(shape, detail::part_cut{n, 0});
    auto windows = detail::windows_for(bytes, shape, link);
    // Blocks of a pipelined wave follow each other, and nothing else is on their way. Other waves move
    // more of them at a time.
    if (auto const block = layout.longest(); block <= windows.longest_elements / 4 * 3) {
        windows.unadmitted_elements = block;
        windows.longest_elements = std::max(windows.longest_elements, 2 * block);
    }
    plan_writer plan(shape);
    plan.add(algorithm, layout, windows, arrivals.times());
    return plan.finish();
}

} // namespace papcoll::inline v0
