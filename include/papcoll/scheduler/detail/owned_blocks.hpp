// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace papcoll::inline v0::detail {

/// Checks the problem and the rank, as every for_rank does.
inline void check_rank(problem const& p, int rank) {
    check(p);
    require(rank >= 0 && rank < p.ranks, "rank must be a rank of the problem", rank);
}

/// rank + distance on a ring, for distances of less than one turn in either direction.
constexpr auto on_ring(int rank, int distance, int ranks) -> int {
    int const to_end = ranks - rank;
    if (distance >= to_end) return distance - to_end;
    return rank + distance < 0 ? rank + distance + ranks : rank + distance;
}

/// The blocks of each rank, in increasing order. O(P + N) time and space.
class owned_blocks {
public:
    explicit owned_blocks(problem const& p)
        : m_first(static_cast<std::size_t>(p.ranks) + 1)
        , m_blocks(static_cast<std::size_t>(p.blocks)) {
        for (int block = 0; block < p.blocks; ++block) ++m_first[index(p.owner(block)) + 1];
        for (std::size_t rank = 1; rank < m_first.size(); ++rank) {
            m_largest = std::max(m_largest, m_first[rank]);
            m_first[rank] += m_first[rank - 1];
        }
        auto next = m_first;
        for (int block = 0; block < p.blocks; ++block) m_blocks[next[index(p.owner(block))]++] = block;
    }

    [[nodiscard]] auto of(int rank) const -> std::span<int const> {
        return std::span(m_blocks).subspan(m_first[index(rank)],
                                           m_first[index(rank) + 1] - m_first[index(rank)]);
    }
    [[nodiscard]] auto count(int rank) const -> int { return static_cast<int>(of(rank).size()); }
    /// The most blocks that one rank has.
    [[nodiscard]] auto largest() const -> int { return static_cast<int>(m_largest); }

private:
    static auto index(int rank) -> std::size_t { return static_cast<std::size_t>(rank); }

    std::vector<std::size_t> m_first;
    std::vector<int> m_blocks;
    std::size_t m_largest = 0;
};

/// Appends one message: all these blocks, to or from the peer.
inline void append(std::vector<rank_transfer>& list, step_type step, int peer, std::span<int const> blocks) {
    for (int const block : blocks) list.push_back({step, peer, block});
}

/// Brings what was appended in another order into the order of a schedule, blocks in increasing order at both
/// ends of a message.
inline void sort_steps(rank_schedule& share) {
    std::sort(share.sends.begin(), share.sends.end());
    std::sort(share.receives.begin(), share.receives.end());
}

} // namespace papcoll::inline v0::detail
