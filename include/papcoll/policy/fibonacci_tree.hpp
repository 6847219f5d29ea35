// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/tree/fixed_tree.hpp>
#include <papcoll/scheduler/fibonacci_tree.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

/// Reduction, broadcast and all-reduce through Fibonacci trees: while a rank combines one message it receives
/// the next. The shortest where combining takes as long as a transfer, and at most twice the shortest for any
/// other costs (Canon and Antoniu, Scheduling Associative Reductions, 2012, sections 7.2 and 7.3,
/// Theorem 19).
///
/// Operators need be associative alone: subtrees cover contiguous ranks and operands meet in rank order, for
/// any root.
///
/// `segments` must agree on all ranks. A rank computes its share alone, in O(P).
struct fibonacci_tree {
    /// Into how many blocks the data is cut, which follow each other through the tree; default: what is
    /// shortest in the model of the measured link.
    std::optional<int> segments = {};

    static constexpr bool reorders_operands = false;
    static constexpr auto provides(collective_kind operation) -> bool {
        return detail::trees_provide(operation);
    }

    [[nodiscard]] auto name() const -> std::string_view { return "fibonacci_tree"; }
    void check(call_shape const&) const { detail::check_segments(segments); }
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return tree::key(segments);
    }
    /// Into how many blocks a call of this shape is cut: that of the reduction, or of the broadcast where
    /// there is no other.
    [[nodiscard]] auto blocks(call_shape const& shape, link_model const& link) const -> int {
        return tree::planner(shape, link, segments).blocks(shape.operation != collective_kind::broadcast);
    }
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> execution_plan {
        return tree::planner(shape, link, segments).plan();
    }

    friend auto operator==(fibonacci_tree const&, fibonacci_tree const&) -> bool = default;

private:
    using tree = detail::fixed_tree<fibonacci_tree_scheduler>;
};

} // namespace papcoll::inline v0
