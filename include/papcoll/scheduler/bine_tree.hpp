// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/scheduler/tree/bine.hpp>
#include <papcoll/scheduler/tree/fixed_tree.hpp>
#include <papcoll/scheduler/tree/reduction_tree.hpp>

#include <string_view>

namespace papcoll::inline v0 {

/// Reduces to problem.root through a Bine tree: ⌈log2 P⌉ rounds like a binomial tree's, but the messages go
/// to ranks that are nearer, a third less far in all, with distances of 1, 1, 3, 5, 11, … from the leaves on.
/// So less of them passes the links between groups of hosts whose ranks are neighbours. See grow_bine_tree.
///
/// Distances count modulo P, so subtrees may reach from the last rank to rank 0: operators must commute.
/// Blocks, owners, cost and errors are those of greedy_tree_scheduler.
struct bine_tree_scheduler : detail::fixed_tree_scheduler<bine_tree_scheduler> {
    static constexpr std::string_view name = "bine_tree";

    /// The tree, in rounds, and the ranks of its machines.
    [[nodiscard]] auto placed(problem const& p) const -> rank_tree { return grow_bine_tree(p.ranks, p.root); }
};

} // namespace papcoll::inline v0
