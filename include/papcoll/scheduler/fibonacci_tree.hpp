// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/scheduler/tree/contiguous.hpp>
#include <papcoll/scheduler/tree/fixed_tree.hpp>
#include <papcoll/scheduler/tree/greedy.hpp>
#include <papcoll/scheduler/tree/reduction_tree.hpp>

#include <string_view>

namespace papcoll::inline v0 {

/// Reduces to problem.root through a Fibonacci tree: while a rank combines one message it receives the next.
///
/// Paper 2, sections 7.2 and 7.3: the greedy tree for transfers and combinations that take equally long. It
/// is the Fibonacci tree at the Fibonacci numbers, and optimal for those costs; for others at most twice the
/// optimum (Theorem 19). Rank order, blocks, owners, cost and errors are those of greedy_tree_scheduler.
struct fibonacci_tree_scheduler : detail::fixed_tree_scheduler<fibonacci_tree_scheduler> {
    /// Operands are combined in the order of their ranks.
    static constexpr bool keeps_rank_order = true;
    static constexpr std::string_view name = "fibonacci_tree";

    /// The tree, in rounds, and the ranks of its machines.
    [[nodiscard]] auto placed(problem const& p) const -> rank_tree {
        return detail::in_rank_order(grow_greedy_tree(p.ranks, ticks{1}, ticks{1}), p.root);
    }
};

} // namespace papcoll::inline v0
