// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/scheduler.hpp>
#include <papcoll/scheduler/tree/reduction_tree.hpp>
#include <papcoll/scheduler/tree/tree_schedule.hpp>
#include <papcoll/scheduler/tree/uneven.hpp>

#include <vector>

namespace papcoll::inline v0 {

/// Reduces to problem.root through a short tree for ranks and links of different speeds, when all arrive
/// together; see grow_uneven_tree(). Fast ranks are near the root and combine much, slow ones send once.
///
/// It reorders operands: operators must be commutative. All blocks take the same tree, of whose times a
/// schedule keeps the order alone; several blocks are pipelined. The costs are those of one block; what
/// counts are their ratios. Costs and problem must be the same on all ranks. Arrivals are not looked at
/// (arrival_tree_scheduler does). Owners must be the root. A rank's share costs O(P²) time for P ranks, O(P³)
/// at worst. Throws std::invalid_argument for malformed problems and what grow_uneven_tree() refuses.
///
///     // One rank combines at a tenth of the speed of the others.
///     papcoll::uneven_tree_scheduler const tree{{.compute_times = {ticks(1), ticks(1), ticks(10),
///     ticks(1)}}};
struct uneven_tree_scheduler {
    /// Times of one block.
    uneven_costs costs = {};

    static constexpr schedule_kind kind = schedule_kind::reduction;

    /// The timed tree of one block, and the ranks of its machines.
    [[nodiscard]] auto placed(problem const& p) const -> rank_tree {
        return grow_uneven_tree(p.ranks, p.root, costs);
    }
    /// All transfers of the tree.
    [[nodiscard]] auto transfers(problem const& p) const -> std::vector<transfer> {
        return detail::tree_schedule_of(*this, p).transfers();
    }
    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> rank_schedule {
        detail::check_tree_problem(p, rank);
        return detail::tree_schedule_of(*this, p).for_rank(rank);
    }
    /// That of reversed(*this).
    [[nodiscard]] auto reversed_for_rank(problem const& p, int rank) const -> rank_schedule {
        detail::check_tree_problem(p, rank);
        return detail::tree_schedule_of(*this, p).reversed_for_rank(rank);
    }
};

} // namespace papcoll::inline v0
