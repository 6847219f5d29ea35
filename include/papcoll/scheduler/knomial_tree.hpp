// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/scheduler/tree/contiguous.hpp>
#include <papcoll/scheduler/tree/fixed_tree.hpp>
#include <papcoll/scheduler/tree/knomial.hpp>
#include <papcoll/scheduler/tree/reduction_tree.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

/// Reduces to problem.root through a k-nomial tree: ⌈log_k P⌉ rounds, in each of which a rank receives up to
/// k − 1 messages. Fewer rounds than a binomial tree has, for links whose latency is what a short message
/// costs; see grow_knomial_tree.
///
/// Rank order, blocks, owners, cost and errors are those of greedy_tree_scheduler.
struct knomial_tree_scheduler : detail::fixed_tree_scheduler<knomial_tree_scheduler> {
    /// k, at least 2.
    int radix = 2;

    /// Operands are combined in the order of their ranks.
    static constexpr bool keeps_rank_order = true;
    static constexpr std::string_view name = "knomial_tree";

    knomial_tree_scheduler() = default;
    explicit constexpr knomial_tree_scheduler(int k)
        : radix(k) {}

    /// Everything but the problem that the schedule depends on.
    [[nodiscard]] auto fingerprint() const -> std::vector<std::int64_t> { return {radix}; }
    /// The tree, in rounds, and the ranks of its machines.
    [[nodiscard]] auto placed(problem const& p) const -> rank_tree {
        return detail::in_rank_order(grow_knomial_tree(p.ranks, radix), p.root);
    }
};

} // namespace papcoll::inline v0
