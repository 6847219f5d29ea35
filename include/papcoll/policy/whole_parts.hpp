// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/policy/circulant_choice.hpp>
#include <papcoll/policy/plan_writer.hpp>
#include <papcoll/policy/policy.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace papcoll::inline v0::detail {

/// How long the largest part of a rank travels.
[[nodiscard]] inline auto part_time(call_shape const& shape, link_model const& link) -> ticks {
    double const bytes = static_cast<double>(largest_part(shape) * shape.element_bytes);
    return link.latency + ticks{std::llround(bytes * link.per_byte)};
}
/// What was asked for, or as long as the largest part travels, and never 0.
[[nodiscard]] inline auto block_time_of(std::optional<ticks> const& given, call_shape const& shape,
                                        link_model const& link) -> ticks {
    return given.value_or(std::max(part_time(shape, link), ticks{1}));
}
inline void check_block_time(std::optional<ticks> const& block_time) {
    if (block_time && *block_time <= ticks{0})
        throw std::invalid_argument("papcoll: block_time must be positive, but is " +
                                    std::to_string(block_time->count()) + " ns");
}
/// Numbers that tell one arrival vector and one time from others.
[[nodiscard]] inline auto arrivals_key(arrival_source const& arrivals,
                                       std::optional<ticks> const& time = std::nullopt)
    -> std::vector<std::int64_t> {
    std::vector<std::int64_t> key{arrivals.given() ? 1 : 0, time ? 1 : 0, time.value_or(ticks{0}).count()};
    for (auto const t : arrivals.times()) key.push_back(t.count());
    return key;
}

/// The all-gather of a scheduler that moves each rank's part as a whole.
template <scheduler S>
[[nodiscard]] auto whole_parts_plan(S const& algorithm, call_shape const& shape, link_model const& link,
                                    std::span<ticks const> arrivals = {}) -> program {
    auto const windows = windows_for(largest_part(shape) * shape.element_bytes, shape, link);
    plan_writer plan(shape);
    plan.add(algorithm, layout_of_ranks(shape), windows, arrivals);
    return plan.finish();
}

} // namespace papcoll::inline v0::detail
