// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/scheduler/knomial_tree.hpp>
#include <papcoll/scheduler/tree/fixed_tree.hpp>
#include <papcoll/scheduler/tree/reduction_tree.hpp>

#include <string_view>

namespace papcoll::inline v0 {

/// Reduces to problem.root through a binomial tree: ⌈log2 P⌉ rounds, in each of which the ranks that still
/// hold something halve in number. The k-nomial tree with k = 2.
///
/// Paper 2, sections 7.1 and 7.3: it is the greedy tree for min(transfer, compute) = 0, and optimal for those
/// costs; for others at most 1 + min/max times the optimum (Theorem 18). Rank order, blocks, owners, cost and
/// errors are those of greedy_tree_scheduler.
struct binomial_tree_scheduler : detail::fixed_tree_scheduler<binomial_tree_scheduler> {
    /// Operands are combined in the order of their ranks.
    static constexpr bool keeps_rank_order = true;
    static constexpr std::string_view name = "binomial_tree";

    /// The tree, in rounds, and the ranks of its machines.
    [[nodiscard]] auto placed(problem const& p) const -> rank_tree {
        return knomial_tree_scheduler(2).placed(p);
    }
};

} // namespace papcoll::inline v0
