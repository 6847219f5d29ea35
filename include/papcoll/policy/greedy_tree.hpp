// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/policy.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

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
/// The tree counts on messages that move while the operator runs. For one value that cannot be cut that needs
/// MPI_THREAD_MULTIPLE; otherwise say nothing of the cost.
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
    /// How many transfers may be under way at the same time, for a network that all share; 0: any number.
    /// This holds whenever ranks arrive: each transfer waits for a sign that the one so many places before it
    /// has ended. The data is one block then; other segments are refused.
    int max_transfers = 0;
    /// How many ranks may combine; 0: any number.
    int max_reducers = 0;
    /// Into how many blocks the data is cut, which follow each other through the tree; default: what is
    /// shortest in the model of the measured link.
    std::optional<int> segments = {};

    static constexpr bool reorders_operands = false;
    /// Policies that compare equal have the same plans: the fingerprint need not be asked.
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool {
        return detail::trees_provide(operation);
    }

    [[nodiscard]] auto name() const -> std::string_view { return "greedy_tree"; }
    void check(call_shape const& shape) const;
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>>;
    /// Into how many blocks a call of this shape is cut: that of the reduction, or of the broadcast where
    /// there is no other.
    [[nodiscard]] auto blocks(call_shape const& shape, link_model const& link) const -> int;
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program;

    friend auto operator==(greedy_tree const&, greedy_tree const&) -> bool = default;
};

} // namespace papcoll::inline v0

#ifndef PAPCOLL_SEPARATE_COMPILATION
#include <papcoll/policy/impl/trees.hpp>
#endif
