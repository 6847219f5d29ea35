// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/tree/fixed_tree.hpp>
#include <papcoll/scheduler/binomial_tree.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

/// Reduction, broadcast and all-reduce through binomial trees: ⌈log2 P⌉ rounds of whole messages, the fewest
/// possible for a value that cannot be cut when combining costs nothing (Canon and Antoniu, Scheduling
/// Associative Reductions, 2012, sections 7.1 and 7.3).
///
/// Some rank receives ⌈log2 P⌉ messages per block, so cutting gains nothing and the default is not to; long
/// data that can be cut is faster by `circulant`. Operators need be associative alone: subtrees cover
/// contiguous ranks and operands meet in rank order, for any root.
///
/// `segments` must agree on all ranks. A rank computes its share alone, in O(P).
struct binomial_tree {
    /// Into how many blocks the data is cut, which follow each other through the tree; default: what is
    /// shortest in the model of the measured link.
    std::optional<int> segments = {};

    static constexpr bool reorders_operands = false;
    static constexpr auto provides(collective_kind operation) -> bool {
        return detail::trees_provide(operation);
    }

    [[nodiscard]] auto name() const -> std::string_view { return "binomial_tree"; }
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

    friend auto operator==(binomial_tree const&, binomial_tree const&) -> bool = default;

private:
    using tree = detail::fixed_tree<binomial_tree_scheduler>;
};

} // namespace papcoll::inline v0
