// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/detail/folded_ranks.hpp>
#include <papcoll/scheduler/detail/owned_blocks.hpp>

#include <string_view>

namespace papcoll::inline v0 {

/// Reduces the blocks of all owners to these by recursive halving: a reduce-scatter.
///
/// With p = 2^k + e ranks, 0 ≤ e < 2^k, the first 2e ranks form pairs: the odd one gives all that it has to
/// the even one below, and gets its own blocks from it at the end. The pairs and the ranks behind them are
/// 2^k groups; in round i = 1 … k those whose numbers differ in bit k − i alone exchange: each sends its
/// partial results for the owners on the other's side of that bit. So what acknowledges one message goes with
/// the other (Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH,
/// 2005).
///
/// With equal parts of m/p bytes k α + β m (2^k − 1)/2^k, and for e > 0 two rounds and β m (p + 1)/p more: of
/// short data. Step i is round i, of pairs 0 and k + 1; within a step blocks ascend. Owners may have any
/// number of blocks, none included. The arrivals do not enter the schedule. Needs a commutative operator.
///
/// One rank's share: O(problem.blocks · log p). Throws std::invalid_argument for a malformed problem, or a
/// rank out of range.
struct recursive_halving_scheduler {
    static constexpr auto kind = schedule_kind::reduction;
    static constexpr std::string_view name = "recursive_halving";

    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> rank_schedule;

    friend auto operator==(recursive_halving_scheduler const&, recursive_halving_scheduler const&)
        -> bool = default;
};

inline auto recursive_halving_scheduler::for_rank(problem const& p, int rank) const -> rank_schedule {
    detail::check_rank(p, rank);
    detail::folded_ranks const folded(p.ranks);
    int const mine = folded.group_of(rank);
    int const first = folded.first_of(mine);
    rank_schedule share;
    auto const add = [&](step_type step, int from, int to, int block) {
        if (rank == from) share.sends.push_back({step, to, block});
        if (rank == to) share.receives.push_back({step, from, block});
    };
    auto const each_block = [&](auto const& f) {
        for (int block = 0; block < p.blocks; ++block) f(block, p.owner(block));
    };
    if (folded.is_pair(mine)) each_block([&](int block, int) { add(0, first + 1, first, block); });
    step_type step = 1;
    for (int bit = folded.groups() / 2; bit > 0; bit /= 2, ++step) {
        if (rank != first) continue;
        int const peer = folded.first_of(mine ^ bit);
        each_block([&](int block, int owner) {
            int const differs = folded.group_of(owner) ^ mine;
            if (differs >= 2 * bit) return; // neither has it any more
            if ((differs & bit) != 0)
                add(step, rank, peer, block);
            else
                add(step, peer, rank, block);
        });
    }
    if (folded.is_pair(mine))
        each_block([&](int block, int owner) {
            if (owner == first + 1) add(step, first, owner, block);
        });
    return share;
}

} // namespace papcoll::inline v0
