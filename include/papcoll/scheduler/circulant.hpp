// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/circulant/many_roots.hpp>
#include <papcoll/scheduler/circulant/receive_blocks.hpp>
#include <papcoll/scheduler/circulant/rounds.hpp>
#include <papcoll/scheduler/circulant/send_blocks.hpp>
#include <papcoll/scheduler/circulant/skips.hpp>
#include <papcoll/scheduler/detail/owned_blocks.hpp>
#include <papcoll/scheduler/reversed.hpp>
#include <papcoll/scheduler/scheduler.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace papcoll::inline v0 {

/// Broadcasts the blocks of every owner from that owner, in n − 1 + q rounds, q = ⌈log2 p⌉, when no owner has
/// more than n. For a single owner no one-ported schedule has fewer rounds.
///
/// In every round each rank sends one message at most to one rank and receives one at most from another, with
/// one block at most of each owner in it. So m bytes in all, of which each owner has cut its own into n equal
/// blocks, cost (n − 1 + q) (α + β m/n). Owners with fewer blocks take part in the last rounds only. Step s
/// is the s-th round; within a step blocks ascend. The arrivals do not enter the schedule. Paper 3, Algorithm
/// 6 and, for several owners, 9.
///
/// One rank's share: O(n + log p) time and space for one owner, without regard to the other ranks; otherwise
/// O(p log p + problem.blocks + T) for T transfers of this rank, times log p where the blocks of an owner are
/// not neighbours.
///
/// Throws std::invalid_argument for a malformed problem, or a rank out of range.
struct circulant_scheduler {
    static constexpr auto kind = schedule_kind::dissemination;

    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> rank_schedule;

    friend auto operator==(circulant_scheduler const&, circulant_scheduler const&) -> bool = default;
};

/// The rounds of the broadcasts run backwards: a reduction of each block to its owner, a reduce-scatter where
/// these are several. Per round and owner each rank combines one block at most. One rank's share costs no
/// more than that of the broadcasts. Needs a commutative operator. Paper 3 has broadcasts only; see
/// reversed().
template <>
struct reversed_scheduler<circulant_scheduler> {
    circulant_scheduler forward;

    static constexpr auto kind = schedule_kind::reduction;

    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> rank_schedule;
};

/// reversed(circulant_scheduler{})
using circulant_reduction_scheduler = reversed_scheduler<circulant_scheduler>;

namespace detail {

/// The root, where one rank owns all blocks; −1: there are several.
inline auto only_owner(problem const& p) -> int {
    int const first = p.owner(0);
    bool const all = std::all_of(p.owners.begin(), p.owners.end(), [=](int owner) { return owner == first; });
    return all ? first : -1;
}

/// One rank's share of the broadcast of all blocks from `root`.
inline auto circulant_broadcast(circulant_skips const& skips, int blocks, int root, int rank)
    -> rank_schedule {
    rank_schedule share;
    int const relative = rank >= root ? rank - root : rank - root + skips.ranks();
    auto const sends = send_blocks(skips, relative);
    auto const receives = receive_blocks(skips, relative);
    circulant_rounds round(blocks, skips.rounds());
    share.sends.reserve(static_cast<std::size_t>(round.count()));
    if (relative != 0) share.receives.reserve(static_cast<std::size_t>(blocks));
    for (; !round.over(); round.next()) {
        int const k = round.in_phase();
        int const sent = static_cast<int>(round.block(blocks, sends[k]));
        if (sent >= 0 && skips.target(relative, k) != 0)
            share.sends.push_back({round.step(), skips.target(rank, k), sent});
        int const received = static_cast<int>(round.block(blocks, receives[k]));
        if (received >= 0 && relative != 0)
            share.receives.push_back({round.step(), skips.source(rank, k), received});
    }
    return share;
}

struct circulant_share {
    rank_schedule transfers;
    step_type rounds = 0;
};

inline auto circulant_share_of(problem const& p, int rank) -> circulant_share {
    check_rank(p, rank);
    circulant_skips const skips(p.ranks);
    if (skips.rounds() == 0) return {};
    if (int const root = only_owner(p); root >= 0)
        return {circulant_broadcast(skips, p.blocks, root, rank), step_type{p.blocks} - 1 + skips.rounds()};
    owned_blocks const blocks(p);
    return {circulant_many_roots(skips, p, blocks, rank).share(),
            step_type{blocks.largest()} - 1 + skips.rounds()};
}

} // namespace detail

inline auto circulant_scheduler::for_rank(problem const& p, int rank) const -> rank_schedule {
    return detail::circulant_share_of(p, rank).transfers;
}

inline auto reversed_scheduler<circulant_scheduler>::for_rank(problem const& p, int rank) const
    -> rank_schedule {
    auto share = detail::circulant_share_of(p, rank);
    return detail::circulant_reversed(std::move(share.transfers), share.rounds - 1);
}

} // namespace papcoll::inline v0
