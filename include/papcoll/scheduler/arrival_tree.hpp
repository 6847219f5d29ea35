// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/scheduler.hpp>
#include <papcoll/scheduler/tree/arrival_growth.hpp>
#include <papcoll/scheduler/tree/reduction_tree.hpp>
#include <papcoll/scheduler/tree/tree_schedule.hpp>

#include <cstdint>
#include <vector>

namespace papcoll::inline v0 {

/// Reduces one block that cannot be cut to problem.root through the tree that ends first, given
/// problem.arrivals.
///
/// Arrival dates are a perspective of paper 2 that the paper leaves open. When all arrive together the length
/// is that of Algorithm 1. When one rank is late enough, the result is there one transfer and one combination
/// after its arrival, whether it is the root or not. Between these the tree still ends first among all in
/// which every rank sends once and does nothing before its arrival; bench/results/arrival_tree.md has the
/// argument and the comparison with all trees.
///
/// It reorders operands: operators must be commutative. Costs are those of one block, on the scale of the
/// arrivals; members and problem must be the same on all ranks. Several blocks are pipelined through the tree
/// of one, for which nothing is known. Owners must be the root. A rank's share costs O(P (log P + log L)) for
/// P ranks and a greedy tree of L ticks. Throws std::invalid_argument as greedy_tree_scheduler does.
struct arrival_tree_scheduler {
    /// How long a value that is sent occupies both ranks.
    ticks transfer_time{1};
    /// How long two values take to be combined.
    ticks compute_time{0};
    /// How much longer it travels, while both may send and receive others.
    ticks latency{0};

    static constexpr schedule_kind kind = schedule_kind::reduction;

    /// Everything but the problem that the schedule depends on.
    [[nodiscard]] auto fingerprint() const -> std::vector<std::int64_t> {
        return {transfer_time.count(), compute_time.count(), latency.count()};
    }
    /// The timed tree of one block, on the clock of the arrivals, and the ranks of its machines.
    [[nodiscard]] auto placed(problem const& p) const -> rank_tree {
        return grow_arrival_tree(p, transfer_time, compute_time, latency);
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
