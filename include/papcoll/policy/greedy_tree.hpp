// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/tree/tree_plan.hpp>
#include <papcoll/scheduler/greedy_tree.hpp>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

struct greedy_tree_maker {
    tree_limits limits;

    [[nodiscard]] auto operator()(tree_costs const& costs) const -> greedy_tree_scheduler {
        return {.transfer_time = costs.transfer,
                .compute_time = costs.compute,
                .max_transfers = limits.transfers,
                .max_reducers = limits.reducers};
    }
};

} // namespace detail

/// Reduction, broadcast and all-reduce through the shortest tree for the given costs, when all ranks arrive
/// together (Canon and Antoniu, Scheduling Associative Reductions, 2012, Algorithms 1 to 3): for values that
/// cannot be cut, and for operators that are not commutative. Long data that can be cut, with a commutative
/// operator, is faster by `circulant`.
///
/// Operators need be associative alone: subtrees cover contiguous ranks and operands meet in rank order, for
/// any root. Without costs the tree is that of transfers alone, a binomial one; where combining is slow, say
/// how slow:
///
///     double const cost = papcoll::agreed_combine_cost<matrix>(world, multiply);
///     papcoll::reduce(world, mine, product, multiply, 0, papcoll::greedy_tree{.compute_per_element = cost});
///
/// All members must agree on all ranks, to the bit. A rank computes its share alone, in O(P).
struct greedy_tree {
    /// Of one block; default: that of the measured link.
    std::optional<ticks> transfer_time = {};
    /// Of one block; default: its elements times compute_per_element. A broadcast combines nothing, but when
    /// given it shapes the tree of a broadcast, too.
    std::optional<ticks> compute_time = {};
    /// What one combination of two elements takes, in nanoseconds. Every rank would measure something else,
    /// so nothing is measured unasked: see agreed_combine_cost.
    double compute_per_element = 0;
    /// How many transfers may be under way at the same time in the timed tree of one block; 0: any number. At
    /// run time only the order is kept.
    int max_transfers = 0;
    /// How many ranks may combine; 0: any number.
    int max_reducers = 0;
    /// Into how many blocks the data is cut, which follow each other through the tree; default: what is
    /// shortest in the model of the measured link.
    std::optional<int> segments = {};

    static constexpr bool reorders_operands = false;
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool {
        return detail::trees_provide(operation);
    }

    [[nodiscard]] auto name() const -> std::string_view { return "greedy_tree"; }
    void check(call_shape const& shape) const {
        costs().check(shape.ranks);
        detail::require(max_transfers >= 0, "max_transfers must not be negative", max_transfers);
        detail::require(max_reducers >= 0, "max_reducers must not be negative", max_reducers);
        detail::check_segments(segments);
    }
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        std::vector<std::int64_t> key{max_transfers, max_reducers, segments.value_or(0)};
        costs().append_to(key);
        return key;
    }
    /// Into how many blocks a call of this shape is cut: that of the reduction, or of the broadcast where
    /// there is no other.
    [[nodiscard]] auto blocks(call_shape const& shape, link_model const& link) const -> int {
        return planner(shape, link).blocks(shape.operation != collective_kind::broadcast);
    }
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program {
        return planner(shape, link).plan();
    }

    friend auto operator==(greedy_tree const&, greedy_tree const&) -> bool = default;

private:
    [[nodiscard]] auto costs() const -> detail::tree_cost_options {
        return {transfer_time, compute_time, compute_per_element};
    }
    [[nodiscard]] auto planner(call_shape const& shape, link_model const& link) const
        -> detail::tree_planner<detail::greedy_tree_maker> {
        return {shape, link, costs(), segments, {{max_transfers, max_reducers}}};
    }
};

} // namespace papcoll::inline v0
