// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/policy/policy.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

/// Reduction and all-reduce of one value that is not cut, through the tree that ends first when ranks become
/// available at given times: one transfer after the last arrival where one rank is late enough, whichever it
/// is, and as soon as by `greedy_tree` where all arrive together. Canon and Antoniu (Scheduling Associative
/// Reductions, 2012) name arrival dates as a perspective; see arrival_tree_scheduler for what is known.
///
/// Operators must be commutative. All members must agree on all ranks, to the bit; costs are on the scale of
/// the arrivals. Wrong arrivals cost time, never correctness. The way down of an all-reduce is the tree for
/// ranks that arrive together. A rank computes its share alone, in O(P log P).
struct arrival_tree {
    /// When the ranks arrive; none given: all together.
    arrival_source arrivals = {};
    /// Of the whole data, which occupies both ranks for so long; default: that of the measured link, in which
    /// the latencies of several short messages to one rank pass together.
    std::optional<ticks> transfer_time = {};
    /// Of the whole data; default: its elements times compute_per_element.
    std::optional<ticks> compute_time = {};
    /// What one combination of two elements takes, in nanoseconds; see agreed_combine_cost.
    double compute_per_element = 0;

    static constexpr bool reorders_operands = true;
    /// Policies that compare equal have the same plans: the fingerprint need not be asked.
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool {
        return operation == collective_kind::reduce || operation == collective_kind::all_reduce;
    }

    [[nodiscard]] auto name() const -> std::string_view { return "arrival_tree"; }
    void check(call_shape const& shape) const;
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>>;
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program;

    friend auto operator==(arrival_tree const&, arrival_tree const&) -> bool = default;
};

} // namespace papcoll::inline v0

#ifndef PAPCOLL_SEPARATE_COMPILATION
#include <papcoll/policy/impl/trees.hpp>
#endif
