// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/circulant/receive_blocks.hpp>
#include <papcoll/scheduler/circulant/send_blocks.hpp>
#include <papcoll/scheduler/circulant/skips.hpp>
#include <papcoll/scheduler/reversed.hpp>
#include <papcoll/scheduler/scheduler.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace papcoll::inline v0 {

/// Broadcasts problem.blocks blocks from problem.root in n − 1 + q rounds, q = ⌈log2 p⌉: the fewest in which
/// one-ported ranks can.
///
/// In every round each rank sends one block at most to one rank and receives one at most from another, so a
/// message of m bytes costs (n − 1 + q) (α + β m/n). Step s is the s-th round. The arrivals do not enter the
/// schedule. Paper 3, Algorithm 6. One rank's share: O(n + log p) time and space, without regard to the
/// others.
///
/// Throws std::invalid_argument for a malformed problem, an owner that is not the root, or a rank out of
/// range.
struct circulant_scheduler {
    static constexpr auto kind = schedule_kind::dissemination;

    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> rank_schedule;

    friend auto operator==(circulant_scheduler const&, circulant_scheduler const&) -> bool = default;
};

/// The rounds of the broadcast run backwards: a reduction to problem.root, in which each rank combines one
/// block at most per round. One rank's share costs no more than that of the broadcast. Needs a commutative
/// operator. Paper 3 has broadcasts only; see reversed().
template <>
struct reversed_scheduler<circulant_scheduler> {
    circulant_scheduler forward;

    static constexpr auto kind = schedule_kind::reduction;

    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> rank_schedule;
};

/// reversed(circulant_scheduler{})
using circulant_reduction_scheduler = reversed_scheduler<circulant_scheduler>;

namespace detail {

/// The numbering of rounds in an n-block broadcast: x rounds are counted but left out, so that the last one
/// is the last of a phase.
struct circulant_rounds {
    step_type blocks; ///< n
    step_type phase;  ///< q, at least 1

    [[nodiscard]] constexpr auto skipped() const -> step_type {
        return (phase - (blocks - 1) % phase) % phase;
    }
    [[nodiscard]] constexpr auto count() const -> step_type { return blocks - 1 + phase; }
    [[nodiscard]] constexpr auto in_phase(step_type step) const -> int {
        return static_cast<int>((skipped() + step) % phase);
    }
    /// The block that an entry of the schedule stands for in this step; negative: none.
    [[nodiscard]] constexpr auto block(step_type step, int entry) const -> int {
        auto const round = skipped() + step;
        return static_cast<int>(std::min(entry + round - round % phase - skipped(), blocks - 1));
    }
};

} // namespace detail

inline auto circulant_scheduler::for_rank(problem const& p, int rank) const -> rank_schedule {
    check(p);
    detail::require(rank >= 0 && rank < p.ranks, "rank must be a rank of the problem", rank);
    for (int const owner : p.owners)
        detail::require(owner == p.root, "every entry of problem.owners must be the root", owner);
    rank_schedule share;
    circulant_skips const skips(p.ranks);
    if (skips.rounds() == 0) return share;
    int const relative = rank >= p.root ? rank - p.root : rank - p.root + p.ranks;
    auto const sends = send_blocks(skips, relative);
    auto const receives = receive_blocks(skips, relative);
    detail::circulant_rounds const rounds{p.blocks, skips.rounds()};
    share.sends.reserve(static_cast<std::size_t>(rounds.count()));
    if (relative != 0) share.receives.reserve(static_cast<std::size_t>(p.blocks));
    for (step_type step = 0; step < rounds.count(); ++step) {
        int const k = rounds.in_phase(step);
        int const sent = rounds.block(step, sends[k]);
        if (sent >= 0 && skips.target(relative, k) != 0)
            share.sends.push_back({step, skips.target(rank, k), sent});
        int const received = rounds.block(step, receives[k]);
        if (received >= 0 && relative != 0) share.receives.push_back({step, skips.source(rank, k), received});
    }
    return share;
}

inline auto reversed_scheduler<circulant_scheduler>::for_rank(problem const& p, int rank) const
    -> rank_schedule {
    auto share = forward.for_rank(p, rank);
    std::swap(share.sends, share.receives);
    auto const last = detail::circulant_rounds{p.blocks, circulant_skips(p.ranks).rounds()}.count() - 1;
    for (auto* list : {&share.sends, &share.receives}) {
        std::reverse(list->begin(), list->end());
        for (auto& t : *list) t.step = last - t.step;
    }
    return share;
}

} // namespace papcoll::inline v0
