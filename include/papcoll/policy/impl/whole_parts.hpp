// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/circulant_choice.hpp>
#include <papcoll/policy/plan_writer.hpp>
#include <papcoll/policy/whole_parts.hpp>
#include <papcoll/schedule/problem.hpp>
#include <papcoll/scheduler/neighbor_exchange.hpp>
#include <papcoll/scheduler/ring.hpp>
#include <papcoll/scheduler/scheduler_ref.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>

namespace papcoll::inline v0::detail {

/// What was asked for, or as long as the largest part of a rank travels, and never 0.
[[nodiscard]] inline auto block_time_of(std::optional<ticks> const& given, call_shape const& shape,
                                        link_model const& link) -> ticks {
    double const bytes = static_cast<double>(largest_part(shape) * shape.element_bytes);
    auto const part = link.latency + ticks{std::llround(bytes * link.per_byte)};
    return given.value_or(std::max(part, ticks{1}));
}
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

} // namespace papcoll::inline v0::detail
