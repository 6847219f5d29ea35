// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/tree/tree_plan.hpp>
#include <papcoll/scheduler/binomial_tree.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace papcoll::inline v0::detail {

/// A policy whose tree depends on the number of ranks alone.
template <class Scheduler>
struct fixed_tree {
    /// Into how many blocks the data is cut, which follow each other through the tree; default: what is
    /// shortest in the model of the measured link.
    std::optional<int> segments = {};

    static constexpr bool reorders_operands = false;
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool { return trees_provide(operation); }

    [[nodiscard]] auto name() const -> std::string_view {
        return std::same_as<Scheduler, binomial_tree_scheduler> ? "binomial_tree" : "fibonacci_tree";
    }
    void check(call_shape const&) const { check_segments(segments); }
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return std::vector<std::int64_t>{segments.value_or(0)};
    }
    /// Into how many blocks a call of this shape is cut: that of the reduction, or of the broadcast where
    /// there is no other.
    [[nodiscard]] auto blocks(call_shape const& shape, link_model const& link) const -> int {
        return planner(shape, link).blocks(shape.operation != collective_kind::broadcast);
    }
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program {
        return planner(shape, link).plan();
    }

    friend auto operator==(fixed_tree const&, fixed_tree const&) -> bool = default;

private:
    static constexpr auto make = [](tree_costs const&) { return Scheduler{}; };

    [[nodiscard]] auto planner(call_shape const& shape, link_model const& link) const {
        return tree_planner(shape, link, tree_cost_options{{}, {}, 0}, segments, make);
    }
};

} // namespace papcoll::inline v0::detail
