// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/sort_by_time.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/circulant.hpp>
#include <papcoll/scheduler/detail/owned_blocks.hpp>
#include <papcoll/scheduler/scheduler.hpp>

#include <cstddef>
#include <numeric>
#include <vector>

namespace papcoll::inline v0 {

/// Linear gather and broadcast: the root takes the blocks of one rank after the other, in the order of their
/// arrivals (ties by rank), and then broadcasts all of them by circulant_scheduler.
///
/// P − 1 steps of one rank's blocks and N − 1 + q of one block, q = ⌈log2 P⌉: about twice the volume of the
/// ring at the root, so it only pays where the network punishes many flows at once. With arrivals it has the
/// order of the sorted linear gather, and the root may receive before it arrives. The broadcast leaves out
/// what would bring a block back to its owner.
///
/// One rank's share: O(P log P + N) time and space. Throws std::invalid_argument for a malformed problem or a
/// rank out of range.
struct gather_broadcast_scheduler {
    static constexpr auto kind = schedule_kind::dissemination;

    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> rank_schedule {
        detail::check_rank(p, rank);
        detail::owned_blocks const blocks(p);
        rank_schedule share;
        step_type step = 0;
        for (int const sender : by_arrival(p)) {
            if (sender == p.root) continue;
            if (rank == sender) detail::append(share.sends, step, p.root, blocks.of(sender));
            if (rank == p.root) detail::append(share.receives, step, sender, blocks.of(sender));
            ++step;
        }
        problem const from_root{.ranks = p.ranks, .root = p.root, .blocks = p.blocks};
        auto const way_back = circulant_scheduler{}.for_rank(from_root, rank);
        for (auto const& t : way_back.sends)
            if (p.owner(t.block) != t.peer) share.sends.push_back({t.step + step, t.peer, t.block});
        for (auto const& t : way_back.receives)
            if (p.owner(t.block) != rank) share.receives.push_back({t.step + step, t.peer, t.block});
        return share;
    }

    friend auto operator==(gather_broadcast_scheduler const&, gather_broadcast_scheduler const&)
        -> bool = default;

private:
    static auto by_arrival(problem const& p) -> std::vector<int> {
        std::vector<int> order(static_cast<std::size_t>(p.ranks));
        std::iota(order.begin(), order.end(), 0);
        detail::sort_by_time(order, p.arrivals);
        return order;
    }
};

} // namespace papcoll::inline v0
