// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/detail/owned_blocks.hpp>
#include <papcoll/scheduler/ring.hpp>
#include <papcoll/scheduler/scheduler.hpp>

#include <string_view>

namespace papcoll::inline v0 {

/// Neighbour exchange: P/2 steps, half of the ring's, for an even number of ranks; the ring for an odd one,
/// as Open MPI has it.
///
/// Ranks 2d and 2d + 1 form pair d. In step 0 the two of a pair exchange their blocks. Afterwards each rank
/// turns by turns to its other neighbour (odd steps) and to its partner (even steps), and gives away the two
/// ranks' blocks that it got in the step before. In step i ≥ 1 rank 2d gets the blocks of pair d − (i+1)/2
/// for odd i and d + i/2 for even i, rank 2d + 1 those of d + (i+1)/2 and d − i/2, modulo P/2.
///
/// Volume P − 1 ranks' blocks per rank, as the ring. The arrivals do not enter. One rank's share: O(P + N).
/// Source: Chen, Zhang, Zhang, Yuan (2005), as described in paper 4, section 2.4. Throws
/// std::invalid_argument for a malformed problem or a rank out of range.
struct neighbor_exchange_scheduler {
    static constexpr auto kind = schedule_kind::dissemination;
    static constexpr std::string_view name = "neighbor_exchange";

    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> rank_schedule {
        if (p.ranks % 2 != 0) return ring_scheduler{}.for_rank(p, rank);
        detail::check_rank(p, rank);
        detail::owned_blocks const blocks(p);
        rank_schedule share;
        int const partner = rank ^ 1;
        detail::append(share.sends, 0, partner, blocks.of(rank));
        detail::append(share.receives, 0, partner, blocks.of(partner));
        int const outward = rank % 2 == 0 ? -1 : 1;
        int const other = detail::on_ring(rank, outward, p.ranks);
        for (int step = 1; step < p.ranks / 2; ++step) {
            int const peer = step % 2 != 0 ? other : partner;
            append_pair(share.sends, step, peer, blocks, pair_received(rank, step - 1, p.ranks));
            append_pair(share.receives, step, peer, blocks, pair_received(rank, step, p.ranks));
        }
        detail::sort_steps(share);
        return share;
    }

    friend auto operator==(neighbor_exchange_scheduler const&, neighbor_exchange_scheduler const&)
        -> bool = default;

private:
    // After step 0 a rank has its own pair, as if it had received all of it.
    static auto pair_received(int rank, int step, int ranks) -> int {
        int const sign = (rank + step) % 2 == 0 ? 1 : -1;
        return detail::on_ring(rank / 2, sign * ((step + 1) / 2), ranks / 2);
    }
    static void append_pair(std::vector<rank_transfer>& list, int step, int peer,
                            detail::owned_blocks const& blocks, int pair) {
        detail::append(list, step, peer, blocks.of(2 * pair));
        detail::append(list, step, peer, blocks.of(2 * pair + 1));
    }
};

} // namespace papcoll::inline v0
