// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/circulant/rounds.hpp>
#include <papcoll/scheduler/circulant/skips.hpp>
#include <papcoll/scheduler/detail/owned_blocks.hpp>
#include <papcoll/scheduler/reversed.hpp>
#include <papcoll/scheduler/scheduler.hpp>

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// Brings the blocks of all owners to all ranks in q = ⌈log2 p⌉ rounds, the fewest possible; what a rank owns
/// is its unit and moves as a whole.
///
/// In round k = 0 … q−1 rank r, which has the units of r … r + s[k] − 1, sends those of r … r + s[k+1] − s[k]
/// − 1 to r − s[k] and receives those of r + s[k] … r + s[k+1] − 1 from r + s[k], modulo p: with equal units
/// of m/p bytes q α + β m (p−1)/p, optimal in rounds and volume. Step k is round k; within a step blocks
/// ascend. Owners may have any number of blocks, none included; where units are very unequal
/// circulant_scheduler is faster. The arrivals do not enter the schedule. Paper 3, Algorithm 7.
///
/// One rank's share: O(log p + problem.blocks + T) time for T transfers of this rank.
///
/// Throws std::invalid_argument for a malformed problem, or a rank out of range.
struct circulant_all_gather_scheduler {
    static constexpr auto kind = schedule_kind::dissemination;

    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> rank_schedule;

    friend auto operator==(circulant_all_gather_scheduler const&, circulant_all_gather_scheduler const&)
        -> bool = default;
};

/// The rounds of the all-gather run backwards: a reduction of each block to its owner in q rounds, that is a
/// reduce-scatter without pipelining.
///
/// For k = q−1 … 0 rank r sends its partial results for the owners r + s[k] … r + s[k+1] − 1 to r + s[k], and
/// receives those for r … r + s[k+1] − s[k] − 1 from r − s[k]. Each rank sends p − 1 units and combines as
/// many. Needs a commutative operator. Costs what the all-gather costs.
template <>
struct reversed_scheduler<circulant_all_gather_scheduler> {
    circulant_all_gather_scheduler forward;

    static constexpr auto kind = schedule_kind::reduction;

    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> rank_schedule;
};

/// reversed(circulant_all_gather_scheduler{})
using circulant_reduce_scatter_scheduler = reversed_scheduler<circulant_all_gather_scheduler>;

namespace detail {

/// Puts one rank's transfers into order of rounds without sorting: blocks are added in ascending order twice,
/// to be counted and to be placed.
class circulant_round_list {
public:
    void count(int round) { ++m_next[static_cast<std::size_t>(round) + 1]; }
    /// Between counting and placing.
    void reserve() {
        for (std::size_t k = 1; k < m_next.size(); ++k) m_next[k] += m_next[k - 1];
        m_list.resize(m_next.back());
    }
    void place(int round, int peer, int block) {
        m_list[m_next[static_cast<std::size_t>(round)]++] = {round, peer, block};
    }
    [[nodiscard]] auto take() -> std::vector<rank_transfer> { return std::move(m_list); }

private:
    std::array<std::size_t, circulant_skips::max_rounds + 1> m_next{}; // behind what a round has, so far
    std::vector<rank_transfer> m_list;
};

/// Calls send(round, block) and receive(round, block) for all that a rank does in an all-gather, the blocks
/// ascending within a round.
template <class Send, class Receive>
void for_all_gather(circulant_skips const& skips, problem const& p, int rank, Send const& send,
                    Receive const& receive) {
    for (int block = 0; block < p.blocks; ++block) {
        int const owner = p.owner(block);
        int const distance = owner >= rank ? owner - rank : owner - rank + p.ranks;
        if (distance > 0) receive(skips.largest_within(distance), block);
        for (int k = skips.rounds() - 1; k >= 0 && distance < skips[k + 1] - skips[k]; --k) send(k, block);
    }
}

} // namespace detail

inline auto circulant_all_gather_scheduler::for_rank(problem const& p, int rank) const -> rank_schedule {
    detail::check_rank(p, rank);
    circulant_skips const skips(p.ranks);
    detail::circulant_round_list sends;
    detail::circulant_round_list receives;
    detail::for_all_gather(
        skips, p, rank, [&](int k, int) { sends.count(k); }, [&](int k, int) { receives.count(k); });
    sends.reserve();
    receives.reserve();
    // The edges of the broadcasts, in the opposite direction.
    detail::for_all_gather(
        skips, p, rank, [&](int k, int block) { sends.place(k, skips.source(rank, k), block); },
        [&](int k, int block) { receives.place(k, skips.target(rank, k), block); });
    return {sends.take(), receives.take()};
}

inline auto reversed_scheduler<circulant_all_gather_scheduler>::for_rank(problem const& p, int rank) const
    -> rank_schedule {
    auto share = forward.for_rank(p, rank);
    return detail::circulant_reversed(std::move(share), circulant_skips(p.ranks).rounds() - 1);
}

} // namespace papcoll::inline v0
