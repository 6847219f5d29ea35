// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/background.hpp>
#include <papcoll/scheduler/detail/background_pre_steps.hpp>
#include <papcoll/scheduler/detail/owned_blocks.hpp>
#include <papcoll/scheduler/scheduler.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

namespace papcoll::inline v0 {

/// Background Disseminated Ring: while the last rank is still missing, those that have arrived send their own
/// blocks directly to r − 1, r − 2, …, one rank per pre-step; the ring does the rest.
///
/// With a the arrivals, rank r can use the last ⌊(max a − a_r) / block_time⌋ pre-steps. In each of them the
/// ranks are asked from the latest to the earliest (ties by rank), and one sends if its next receiver is not
/// taken yet. In ring step j rank i then passes on the blocks of i − j to i + 1, unless the pre-steps have
/// already brought them to all ranks from i + 1 on. Pre-steps in which nobody sends are left out, so the
/// steps are 0, 1, 2, … however late a rank is: at most P (P − 1) pre-steps and P − 1 of the ring. A rank
/// sends nothing but its own blocks in pre-steps, but it receives in them before it has arrived: see
/// background_scheduler.
///
/// No arrivals, or all within one block_time: the plain ring. With one late rank the end comes no earlier
/// than with the ring, but ranks leave at different times, so the mean elapsed time is lower. An owner's
/// blocks move together; ranks without blocks take no pre-step.
///
/// One rank's share: O(P² + N) time, because pre-steps couple all ranks, O(P + N) memory beside the share.
/// Source: Proficz, All-gather algorithms resilient to imbalanced process arrival patterns (2021), section
/// 3.1, Listing 2. Throws std::invalid_argument for a malformed problem, a rank out of range, a block_time
/// that is not positive, or arrivals that differ by more than 2^62 ns.
struct background_ring_scheduler {
    static constexpr auto kind = schedule_kind::dissemination;

    /// How long one rank's blocks take from rank to rank. Must agree on all ranks.
    ticks block_time = std::chrono::milliseconds{1};

    /// Everything but the problem that the schedule depends on.
    [[nodiscard]] auto fingerprint() const -> std::vector<std::int64_t> { return {block_time.count()}; }
    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> rank_schedule {
        detail::check_rank(p, rank);
        detail::owned_blocks const blocks(p);
        detail::background_pre_steps pre_steps(p, blocks, block_time);
        rank_schedule share;
        pre_steps.run([&](step_type step, int from, int to) {
            if (from == rank) detail::append(share.sends, step, to, blocks.of(from));
            if (to == rank) detail::append(share.receives, step, from, blocks.of(from));
        });
        int const next = detail::on_ring(rank, 1, p.ranks);
        int const previous = detail::on_ring(rank, -1, p.ranks);
        for (int j = 0; j < p.ranks - 1; ++j) {
            auto const step = pre_steps.steps() + j;
            int const sent = detail::on_ring(rank, -j, p.ranks);
            int const received = detail::on_ring(previous, -j, p.ranks);
            if (pre_steps.left(sent) > j) detail::append(share.sends, step, next, blocks.of(sent));
            if (pre_steps.left(received) > j)
                detail::append(share.receives, step, previous, blocks.of(received));
        }
        return share;
    }

    /// The whole schedule for the cost of one rank's pre-steps.
    [[nodiscard]] auto transfers(problem const& p) const -> std::vector<transfer> {
        check(p);
        detail::owned_blocks const blocks(p);
        detail::background_pre_steps pre_steps(p, blocks, block_time);
        std::vector<transfer> all;
        auto const add = [&](step_type step, int from, int to, int owner) {
            for (int const block : blocks.of(owner)) all.push_back({step, from, to, block});
        };
        pre_steps.run([&](step_type step, int from, int to) { add(step, from, to, from); });
        for (int j = 0; j < p.ranks - 1; ++j)
            for (int i = 0; i < p.ranks; ++i) {
                int const owner = detail::on_ring(i, -j, p.ranks);
                if (pre_steps.left(owner) > j)
                    add(pre_steps.steps() + j, i, detail::on_ring(i, 1, p.ranks), owner);
            }
        return all;
    }

    [[nodiscard]] auto pre_steps(problem const& p) const -> step_type {
        check(p);
        detail::owned_blocks const blocks(p);
        detail::background_pre_steps pre_steps(p, blocks, block_time);
        pre_steps.run([](step_type, int, int) {});
        return pre_steps.steps();
    }

    friend auto operator==(background_ring_scheduler const&, background_ring_scheduler const&)
        -> bool = default;
};

} // namespace papcoll::inline v0
