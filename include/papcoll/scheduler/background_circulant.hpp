// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/background.hpp>
#include <papcoll/scheduler/circulant.hpp>
#include <papcoll/scheduler/circulant_all_gather.hpp>
#include <papcoll/scheduler/detail/dissemination_waves.hpp>
#include <papcoll/scheduler/detail/owned_blocks.hpp>
#include <papcoll/scheduler/scheduler.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace papcoll::inline v0 {

/// All-gather in waves: ranks that arrive close together are roots of circulant broadcasts at the same time,
/// those that arrive at different times one wave after the other. What arrived early is everywhere when the
/// last rank comes, and its blocks take one broadcast and not the P − 1 steps of a ring.
///
/// Cut what each rank has into n blocks: problem.blocks = P n, owner(b) = b / n. With τ = block_time,
/// q = ⌈log2 P⌉ and latency α a wave of L roots takes at most the smaller of
///
///     (n−1+q) α + (τ−α) min(P − 1, L + (Σ_{t<q} min(L, 2^t) − L)/n)    pipelined, circulant_scheduler
///     q α + (τ−α) Σ_k min(L, s[k+1] − s[k])                 doubling, circulant_all_gather_scheduler
///
/// so one root about (1 + (q−1)/n) τ, several little more than L τ, and all of them (P − 1) τ. When a wave
/// is over, all that have arrived meanwhile make up the next one; nobody waits while the links are idle,
/// except that the first wave may wait for the j-th arrival. j = 1 and 32 other j up to P are tried, and that
/// with the earliest end in this model is taken. As j = P is among them, the end is never later than P − 1
/// block times and q α after the last arrival, which is what the ring takes at least and no balanced
/// all-gather beats; a single rank that comes after the others are done costs (1 + (q−1)/n) τ.
///
/// The steps of a wave follow those of the wave before, so the schedule is one-ported and its length does not
/// depend on how late a rank is. Arrivals all equal, or none: one doubling wave, the all-gather that is
/// optimal in steps and volume. A rank takes part in all waves before its own before it arrives; see
/// background_scheduler. Wrong predictions cost time only: what a rank of an early wave delays, waits.
///
/// Cost of one rank's share: O(P log P + P n) time and O(P n) space, and O(P) time more for each wave of
/// several roots, which are P/2 at most. Owners may have different numbers of blocks or none; block_time is
/// for the rank that has most. Beyond the papers: the broadcasts are those of Träff (paper 3, Algorithms 7
/// and 9), pre-steps are an idea of paper 4.
///
/// Throws std::invalid_argument for a malformed problem, a rank out of range, arrivals that differ by more
/// than 2^62 ns, a block_time that is not positive or exceeds 2^61 ns / (P (q + 1)), or a latency outside
/// [0, block_time].
struct background_circulant_scheduler {
    static constexpr auto kind = schedule_kind::dissemination;

    /// How long one rank's blocks take together from rank to rank. Must agree on all ranks.
    ticks block_time = std::chrono::milliseconds{1};
    /// The part of it that every message pays, however small. Must agree on all ranks.
    ticks latency{0};

    /// Everything but the problem that the schedule depends on.
    [[nodiscard]] auto fingerprint() const -> std::vector<std::int64_t> {
        return {block_time.count(), latency.count()};
    }
    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> rank_schedule {
        detail::check_rank(p, rank);
        detail::owned_blocks const blocks(p);
        detail::dissemination_waves const plan(p, blocks, {block_time, latency});
        rank_schedule share;
        for (auto const& wave : plan.waves())
            append_wave(share, wave, p, wave_blocks(plan.roots(wave), blocks), rank);
        return share;
    }

    [[nodiscard]] auto pre_steps(problem const& p) const -> step_type {
        check(p);
        detail::owned_blocks const blocks(p);
        return detail::dissemination_waves(p, blocks, {block_time, latency}).waves().back().first_step;
    }

    friend auto operator==(background_circulant_scheduler const&, background_circulant_scheduler const&)
        -> bool = default;

private:
    static auto wave_blocks(std::span<int const> roots, detail::owned_blocks const& blocks)
        -> std::vector<int> {
        std::vector<int> all;
        for (int const root : roots) all.insert(all.end(), blocks.of(root).begin(), blocks.of(root).end());
        std::sort(all.begin(), all.end());
        return all;
    }
    // A wave is a dissemination of its own, of the blocks of its roots alone.
    static void append_wave(rank_schedule& share, detail::dissemination_wave const& wave, problem const& p,
                            std::vector<int> const& blocks, int rank) {
        std::vector<int> owners;
        owners.reserve(blocks.size());
        for (int const block : blocks) owners.push_back(p.owner(block));
        problem const part{.ranks = p.ranks, .blocks = static_cast<int>(blocks.size()), .owners = owners};
        auto const own = wave.pipelined ? circulant_scheduler{}.for_rank(part, rank)
                                        : circulant_all_gather_scheduler{}.for_rank(part, rank);
        auto const append = [&](std::vector<rank_transfer>& to, std::vector<rank_transfer> const& from) {
            for (auto const& t : from)
                to.push_back({wave.first_step + t.step, t.peer, blocks[static_cast<std::size_t>(t.block)]});
        };
        append(share.sends, own.sends);
        append(share.receives, own.receives);
    }
};

} // namespace papcoll::inline v0
