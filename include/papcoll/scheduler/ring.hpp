// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/detail/owned_blocks.hpp>
#include <papcoll/scheduler/scheduler.hpp>

#include <string_view>

namespace papcoll::inline v0 {

/// The parallel ring: in step j = 0 … P − 2 rank r sends the blocks of rank r − j to r + 1, modulo P.
///
/// The regular all-gather for large data: P − 1 steps of one rank's blocks, each link used in one direction
/// only. A rank's blocks travel together, however many it has; steps without blocks are empty. The arrivals
/// do not enter: with a late rank everybody ends P − 1 steps after it.
///
/// One rank's share: O(P + N) time and space. Throws std::invalid_argument for a malformed problem or a rank
/// out of range.
struct ring_scheduler {
    static constexpr auto kind = schedule_kind::dissemination;
    static constexpr std::string_view name = "ring";

    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> rank_schedule {
        detail::check_rank(p, rank);
        detail::owned_blocks const blocks(p);
        rank_schedule share;
        int const next = detail::on_ring(rank, 1, p.ranks);
        int const previous = detail::on_ring(rank, -1, p.ranks);
        for (int step = 0; step < p.ranks - 1; ++step) {
            detail::append(share.sends, step, next, blocks.of(detail::on_ring(rank, -step, p.ranks)));
            detail::append(share.receives, step, previous,
                           blocks.of(detail::on_ring(previous, -step, p.ranks)));
        }
        return share;
    }

    friend auto operator==(ring_scheduler const&, ring_scheduler const&) -> bool = default;
};

} // namespace papcoll::inline v0
