// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/circulant.hpp>
#include <papcoll/scheduler/circulant/receive_blocks.hpp>
#include <papcoll/scheduler/circulant/send_blocks.hpp>
#include <papcoll/scheduler/circulant/skips.hpp>
#include <papcoll/scheduler/circulant_all_gather.hpp>
#include <papcoll/scheduler/detail/all_reduce_plan.hpp>
#include <papcoll/scheduler/detail/owned_blocks.hpp>
#include <papcoll/scheduler/scheduler.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// One rank's share of an all-reduce in two halves with one numbering of steps: a reduction of each block to
/// its owner, and a dissemination from there.
///
/// Each half is right for a problem with these owners (verify_reduction, verify_dissemination). Each block is
/// complete in the reduction in a smaller step than any in which the dissemination sends it. Both halves
/// together send and receive one message per rank and step at most, so they may overlap: run them as one list
/// in step order, where a send needs the receives of its block with smaller steps, in whichever half. A rank
/// that gave a block away gets the result into the same place.
struct all_reduce_schedule {
    std::vector<int> owners; ///< per block, the same on all ranks
    /// What comes together first: the reduction to the rank that goes on.
    rank_schedule reduction;
    rank_schedule dissemination;
};

/// All-reduce that knows who comes last, in about the time in which the last rank can send its data and
/// receive the result, both at once; arrival-blind ones need twice that.
///
/// The early ranks combine what they have at q = ⌈log2 P⌉ holders, the q earliest, by the broadcasts of
/// circulant_scheduler run backwards, in waves as they arrive: later waves combine among themselves first.
/// With the last rank L as root 0 of a circulant graph and the holders at s[0] … s[q−1], the n-block
/// broadcast from L then is the exchange: L sends its block b in step b to the holder of b, which combines it
/// and so has the result, and the broadcast spreads that. The broadcast leaves the slots towards its root
/// unused, and they bring L every block in the phase after it was sent. No end of the broadcast is folded
/// back, so all have everything after n + q steps:
///
///     (n + q) (α + β m/n) after the last arrival, if the others are done by then; the bound is β m
///
/// against 2 q α + 2 β m (P−1)/P of reduce-scatter and all-gather. These are used instead
/// (circulant_reduce_scatter_scheduler and circulant_all_gather_scheduler, owner(b) = ⌊b P/n⌋) when they end
/// earlier in this model, as they do when all arrive together: `aware` tells. Each wave takes about β m.
/// Nothing here runs before a rank arrives.
///
/// All ranks get the same bits: each block is combined at one place and copied. Needs a commutative operator.
/// problem.root and problem.owners do not enter. One rank's share: O(P log P + n P/2) time at most, O(P + n)
/// with few waves. Source: named as future work in papers 1 and 4; the construction is papcoll's own.
///
/// Throws std::invalid_argument for a malformed problem, a rank out of range, a transfer_time that is not
/// positive, a negative latency, or times that are out of all proportion.
struct arrival_all_reduce_scheduler {
    /// β m: how long all data take from rank to rank in one message, without latency. Must agree on all
    /// ranks.
    ticks transfer_time = std::chrono::milliseconds{1};
    /// α: what each message costs beside that. Must agree on all ranks.
    ticks latency{0};

    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> all_reduce_schedule;
    /// Whether the arrivals are used; otherwise it is reduce-scatter and all-gather.
    [[nodiscard]] auto aware(problem const& p) const -> bool {
        check(p);
        return detail::all_reduce_plan(p, transfer_time, latency).aware();
    }

    friend auto operator==(arrival_all_reduce_scheduler const&, arrival_all_reduce_scheduler const&)
        -> bool = default;
};

namespace detail {

/// One rank's share of the plan in which the last rank exchanges its data for the result.
class all_reduce_exchange {
public:
    all_reduce_exchange(problem const& p, all_reduce_plan const& plan, int rank)
        : m_problem(p)
        , m_plan(plan)
        , m_rank(rank)
        , m_skips(p.ranks)
        // Rounds of the first phase that are left out, so that block n − 1 is the last of a phase.
        , m_skipped((m_skips.rounds() - p.blocks % m_skips.rounds()) % m_skips.rounds()) {
        place_ranks();
        for (int b = 0; b < p.blocks; ++b) m_share.owners.push_back(plan.order()[place(b % plan.holders())]);
    }

    [[nodiscard]] auto share() -> all_reduce_schedule {
        for (auto const& wave : m_plan.waves()) add_wave(wave);
        add_exchange();
        return std::move(m_share);
    }

private:
    // Rank 0 of the graph is the last one; block b leaves it in round (x + b) mod q, towards its holder.
    void place_ranks() {
        auto const order = m_plan.order();
        m_at.assign(order.size(), -1);
        m_at[0] = order.back();
        for (int holder = 0; holder < m_plan.holders(); ++holder)
            m_at[place(m_skips[(m_skipped + holder) % m_skips.rounds()])] = order[place(holder)];
        auto next = static_cast<std::size_t>(m_plan.holders());
        for (auto& rank : m_at)
            if (rank < 0) rank = order[next++];
        m_place = static_cast<int>(std::find(m_at.begin(), m_at.end(), m_rank) - m_at.begin());
    }
    static auto place(std::int64_t i) -> std::size_t { return static_cast<std::size_t>(i); }

    // The wave's ranks are those of a reduction of its own. The first wave ends at the holders.
    void add_wave(all_reduce_plan::wave const& wave) {
        auto const members = m_plan.order().subspan(wave.first, wave.last - wave.first);
        auto const found = std::find(members.begin(), members.end(), m_rank);
        if (found != members.end()) add_reduction(wave, members, static_cast<int>(found - members.begin()));
        if (wave.first > 0) hand_on(wave, members);
    }
    void add_reduction(all_reduce_plan::wave const& wave, std::span<int const> members, int mine) {
        std::vector<int> owners(place(m_problem.blocks));
        for (int b = 0; b < m_problem.blocks; ++b) owners[place(b)] = b % wave.delegates;
        problem const part{
            .ranks = static_cast<int>(members.size()), .blocks = m_problem.blocks, .owners = owners};
        auto const share = circulant_reduction_scheduler{}.for_rank(part, mine);
        auto const append = [&](std::vector<rank_transfer>& to, std::vector<rank_transfer> const& from) {
            for (auto const& t : from)
                to.push_back({wave.first_step + t.step, members[place(t.peer)], t.block});
        };
        append(m_share.reduction.sends, share.sends);
        append(m_share.reduction.receives, share.receives);
    }
    // In each step the delegates send one block each; being neighbours, these have different holders.
    void hand_on(all_reduce_plan::wave const& wave, std::span<int const> members) {
        for (int b = 0; b < m_problem.blocks; ++b) {
            int const from = members[place(b % wave.delegates)];
            int const to = m_share.owners[place(b)];
            auto const step = wave.hand_on_step + b / wave.delegates;
            if (from == m_rank) m_share.reduction.sends.push_back({step, to, b});
            if (to == m_rank) m_share.reduction.receives.push_back({step, from, b});
        }
    }

    // The n-block broadcast from the last rank, whose own sends are the end of the reduction.
    void add_exchange() {
        auto const sends = send_blocks(m_skips, m_place);
        auto const receives = receive_blocks(m_skips, m_place);
        int const q = m_skips.rounds();
        for (step_type i = 0; i < m_problem.blocks + q; ++i) {
            int const k = static_cast<int>((m_skipped + i) % q);
            auto const step = m_plan.exchange_step() + i;
            auto const shift = i - k; // blocks of this phase begin at i − k
            int const source = m_skips.source(m_place, k);
            auto& sending = m_place == 0 ? m_share.reduction : m_share.dissemination;
            auto& receiving = source == 0 ? m_share.reduction : m_share.dissemination;
            add(sending.sends, step, m_skips.target(m_place, k), sends[k] + shift);
            add(receiving.receives, step, source, receives[k] + shift);
        }
    }
    void add(std::vector<rank_transfer>& list, step_type step, int peer_place, step_type block) const {
        if (block >= 0 && block < m_problem.blocks)
            list.push_back({step, m_at[place(peer_place)], static_cast<int>(block)});
    }

    problem const& m_problem;
    all_reduce_plan const& m_plan;
    int m_rank;
    circulant_skips m_skips;
    int m_skipped;
    int m_place = 0;
    std::vector<int> m_at; // the rank at each place of the graph
    all_reduce_schedule m_share;
};

inline auto blind_all_reduce(problem const& p, int rank) -> all_reduce_schedule {
    all_reduce_schedule share;
    for (int b = 0; b < p.blocks; ++b)
        share.owners.push_back(static_cast<int>(std::int64_t{b} * p.ranks / p.blocks));
    problem const owned{.ranks = p.ranks, .blocks = p.blocks, .owners = share.owners};
    share.reduction = circulant_reduce_scatter_scheduler{}.for_rank(owned, rank);
    share.dissemination = circulant_all_gather_scheduler{}.for_rank(owned, rank);
    int const q = circulant_skips(p.ranks).rounds();
    for (auto* list : {&share.dissemination.sends, &share.dissemination.receives})
        for (auto& t : *list) t.step += q;
    return share;
}

} // namespace detail

inline auto arrival_all_reduce_scheduler::for_rank(problem const& p, int rank) const -> all_reduce_schedule {
    detail::check_rank(p, rank);
    detail::all_reduce_plan const plan(p, transfer_time, latency);
    return plan.aware() ? detail::all_reduce_exchange(p, plan, rank).share()
                        : detail::blind_all_reduce(p, rank);
}

} // namespace papcoll::inline v0
