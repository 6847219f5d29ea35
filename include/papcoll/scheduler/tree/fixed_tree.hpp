// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/greedy_tree.hpp>
#include <papcoll/scheduler/tree/reduction_tree.hpp>

#include <string_view>
#include <vector>

namespace papcoll::inline v0::detail {

/// The greedy tree for transfers of one round and combinations of `ComputeRounds`, whatever they cost.
template <int ComputeRounds>
struct fixed_tree_scheduler {
    static constexpr schedule_kind kind = schedule_kind::reduction;
    static constexpr bool keeps_rank_order = true;
    static constexpr std::string_view name = ComputeRounds == 0 ? "binomial_tree" : "fibonacci_tree";

    /// The tree, in rounds, and the ranks of its machines.
    [[nodiscard]] auto placed(problem const& p) const -> rank_tree { return greedy().placed(p); }
    [[nodiscard]] auto transfers(problem const& p) const -> std::vector<transfer> {
        return greedy().transfers(p);
    }
    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> rank_schedule {
        return greedy().for_rank(p, rank);
    }
    [[nodiscard]] auto reversed_for_rank(problem const& p, int rank) const -> rank_schedule {
        return greedy().reversed_for_rank(p, rank);
    }

private:
    [[nodiscard]] static auto greedy() -> greedy_tree_scheduler {
        return {.transfer_time = ticks{1}, .compute_time = ticks{ComputeRounds}};
    }
};

} // namespace papcoll::inline v0::detail
