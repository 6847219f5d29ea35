// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/scheduler.hpp>
#include <papcoll/scheduler/tree/contiguous.hpp>
#include <papcoll/scheduler/tree/greedy.hpp>
#include <papcoll/scheduler/tree/reduction_tree.hpp>
#include <papcoll/scheduler/tree/tree_schedule.hpp>

#include <cstdint>
#include <vector>

namespace papcoll::inline v0 {

/// Reduces to problem.root through the shortest tree for the given costs, when all ranks arrive together.
///
/// Paper 2 (Canon, Antoniu), Algorithms 1 to 3; see grow_greedy_tree(). Every subtree covers contiguous ranks
/// and what arrives is adjacent to what is held, for any root and at no cost in time: operators need be
/// associative, not commutative. All blocks take the same tree: with one block the steps follow the timed
/// tree, several are pipelined, a new one every `k` steps, k = the most messages that one rank receives per
/// block.
///
/// The costs are those of one block; what counts is their ratio. All members and the problem must be the same
/// on all ranks. Arrivals are not looked at (arrival_tree_scheduler does). Owners must be the root. The
/// limits hold in the timed tree of one block; of its transfers a schedule keeps the order alone, and the
/// policy greedy_tree the limit.
///
/// A rank's share costs O(ranks) time and memory and O(blocks) per message of its own. Throws
/// std::invalid_argument for negative members, costs whose sums over all ranks do not fit into ticks, and
/// malformed problems.
struct greedy_tree_scheduler {
    /// How long the value travels from one rank to another.
    ticks transfer_time{1};
    /// How long two values take to be combined.
    ticks compute_time{0};
    /// How many transfers may be under way at the same time; 0: any number.
    int max_transfers = 0;
    /// How many ranks may combine; 0: any number.
    int max_reducers = 0;

    static constexpr schedule_kind kind = schedule_kind::reduction;
    /// Operands are combined in the order of their ranks.
    static constexpr bool keeps_rank_order = true;

    /// Everything but the problem that the schedule depends on.
    [[nodiscard]] auto fingerprint() const -> std::vector<std::int64_t> {
        return {transfer_time.count(), compute_time.count(), max_transfers, max_reducers};
    }
    /// The timed tree of one block and the ranks of its machines.
    [[nodiscard]] auto placed(problem const& p) const -> rank_tree {
        return detail::in_rank_order(
            grow_greedy_tree(p.ranks, transfer_time, compute_time, {max_transfers, max_reducers}), p.root);
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
