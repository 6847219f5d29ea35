// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/tree/tree_schedule.hpp>

#include <vector>

namespace papcoll::inline v0::detail {

/// What a scheduler has whose tree depends on the number of ranks and the root alone. `Tree` has
/// `placed(problem)`: the tree, in rounds, and the ranks of its machines.
template <class Tree>
struct fixed_tree_scheduler {
    static constexpr schedule_kind kind = schedule_kind::reduction;

    /// All transfers of the tree.
    [[nodiscard]] auto transfers(problem const& p) const -> std::vector<transfer> {
        return tree_schedule_of(self(), p).transfers();
    }
    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> rank_schedule {
        check_tree_problem(p, rank);
        return tree_schedule_of(self(), p).for_rank(rank);
    }
    /// That of reversed(*this).
    [[nodiscard]] auto reversed_for_rank(problem const& p, int rank) const -> rank_schedule {
        check_tree_problem(p, rank);
        return tree_schedule_of(self(), p).reversed_for_rank(rank);
    }

private:
    [[nodiscard]] auto self() const -> Tree const& { return static_cast<Tree const&>(*this); }
};

} // namespace papcoll::inline v0::detail
