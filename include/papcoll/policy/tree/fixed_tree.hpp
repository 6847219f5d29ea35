// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/tree/tree_plan.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace papcoll::inline v0::detail {

/// What the policies have in common whose tree depends on the number of ranks alone.
template <class Scheduler>
struct fixed_tree {
    static constexpr auto make = [](tree_costs const&) { return Scheduler{}; };

    [[nodiscard]] static auto planner(call_shape const& shape, link_model const& link,
                                      std::optional<int> segments) {
        return tree_planner(shape, link, tree_cost_options{{}, {}, 0}, segments, make);
    }
    [[nodiscard]] static auto key(std::optional<int> segments) -> std::vector<std::int64_t> {
        return {segments.value_or(0)};
    }
};

} // namespace papcoll::inline v0::detail
