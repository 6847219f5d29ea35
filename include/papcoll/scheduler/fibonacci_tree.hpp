// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/greedy_tree.hpp>
#include <papcoll/scheduler/reversed.hpp>
#include <papcoll/scheduler/tree/reduction_tree.hpp>
#include <papcoll/scheduler/tree/tree_schedule.hpp>

#include <vector>

namespace papcoll::inline v0 {

/// Reduces to problem.root through a Fibonacci tree: while a rank combines one message it receives the next.
///
/// Paper 2, sections 7.2 and 7.3: the greedy tree for transfers and combinations that take equally long. It
/// is the Fibonacci tree at the Fibonacci numbers, and optimal for those costs; for others at most twice the
/// optimum (Theorem 19). Rank order, blocks, owners, cost and errors are those of greedy_tree_scheduler.
struct fibonacci_tree_scheduler {
    static constexpr schedule_kind kind = schedule_kind::reduction;
    static constexpr bool keeps_rank_order = true;

    /// The tree, with transfers and combinations that take 1, and the ranks of its machines.
    [[nodiscard]] auto placed(problem const& p) const -> rank_tree {
        return greedy_tree_scheduler{.transfer_time = ticks{1}, .compute_time = ticks{1}}.placed(p);
    }
    [[nodiscard]] auto transfers(problem const& p) const -> std::vector<transfer> {
        return detail::tree_schedule_of(*this, p).transfers();
    }
    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> rank_schedule {
        detail::check_tree_problem(p, rank);
        return detail::tree_schedule_of(*this, p).for_rank(rank);
    }
};

/// A rank's share without making the schedule of all.
template <>
inline auto reversed_scheduler<fibonacci_tree_scheduler>::for_rank(problem const& p, int rank) const
    -> rank_schedule {
    detail::check_tree_problem(p, rank);
    return detail::tree_schedule_of(forward, p).reversed_for_rank(rank);
}

} // namespace papcoll::inline v0
