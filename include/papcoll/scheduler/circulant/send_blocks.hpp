// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/scheduler/circulant/receive_blocks.hpp>
#include <papcoll/scheduler/circulant/skips.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace papcoll::inline v0 {

namespace detail {

/// Walks down the nested ranges that a rank lies in, level k = q−1 … 1, and tells for each what it sends.
///
/// A range at level k has ranks 0 … end−1, end ≤ s[k+1]. Its lower ranks, below s[k], send to the upper ones
/// what these lack: the block that reached the range first. The upper ranks, a range of level k − 1 when s[k]
/// is subtracted, send block k of the phase before. What a rank sends outside of the range is what the search
/// of the target finds there, which follows from the range where it is long enough.
class send_walk {
public:
    /// The root, rank 0, is left out: it sends block k in round k.
    constexpr send_walk(circulant_skips const& skips, int rank)
        : m_skips(skips)
        , m_base(skips.base_block(rank))
        , m_block(m_base)
        , m_rank(rank)
        , m_end(skips.ranks()) {}

    /// The block of round k, one less than in the call before and q − 1 at first. Empty where it takes a
    /// search.
    constexpr auto step(int k) -> std::optional<int> {
        auto const skip = m_skips[k];
        if (m_rank < skip) {
            auto const block = lower(k);
            if (m_end > skip) m_slack = m_end - m_rank;
            m_end = std::min(m_end, skip);
            return block;
        }
        auto const block = upper(k);
        m_block = k - m_skips.rounds();
        m_rank -= skip;
        m_end -= skip;
        return block;
    }
    /// What the rank sends in round 0, to the next rank: its base block of the phase before.
    [[nodiscard]] constexpr auto base_block() const -> int { return m_base; }

private:
    [[nodiscard]] constexpr auto lower(int k) const -> std::optional<int> {
        auto const skip = m_skips[k];
        auto const target = m_rank + skip;
        if (target < m_end || m_end < m_skips[k - 1] || (k == 1 && m_base > 0)) return m_block;
        // All of the base blocks 0 … k−1 are in the range, so in rounds 0 … k−1 the target takes those, or
        // what lies between, and then the first of the range.
        if (m_end >= skip && target < m_skips[k + 1]) return m_block;
        // The target is the next rank after a whole range of 3, or of 5 or 7: written out.
        if (k <= 2 && m_end == m_skips[k + 1]) return (skip == 3 ? 1 : 0) - m_skips.rounds();
        return {};
    }
    [[nodiscard]] constexpr auto upper(int k) const -> std::optional<int> {
        auto const skip = m_skips[k];
        int const block = k - m_skips.rounds();
        if (k == 1 || m_rank > skip || m_end - skip < m_skips[k - 1]) return block;
        if (m_end != m_skips[k + 1]) return {};
        if (k > 2 || skip != 3 || m_end != 5) return block;
        // Base blocks 0 1 2 0 | j 0 up to the target, if it is in the same range as block j: then round 1
        // takes 2.
        if (m_slack > 3) return 1 - m_skips.rounds();
        return {};
    }

    circulant_skips const& m_skips;
    int m_base;
    int m_block;              // brought the range its first block
    std::int64_t m_rank;      // within the range
    std::int64_t m_end;       // of the range
    std::int64_t m_slack = 0; // end − rank before the upper ranks were cut off last
};

} // namespace detail

/// What a rank, counted from the root, sends in each round of a phase: what its target receives. Entries for
/// the root as target are there, too; a broadcast leaves them out.
///
/// O(log p) time and space, no allocation: all entries but four at most follow from the rank alone; those
/// four take a search of the target's receive blocks each, and most ranks need none or one. Paper 3,
/// Algorithm 5, searches for every entry. Verified like receive_blocks().
[[nodiscard]] constexpr auto send_blocks(circulant_skips const& skips, int rank) -> circulant_blocks {
    circulant_blocks blocks;
    int const q = skips.rounds();
    if (rank == 0) {
        for (int k = 0; k < q; ++k) blocks.set(k, k);
        return blocks;
    }
    detail::send_walk walk(skips, rank);
    for (int k = q - 1; k >= 1; --k) {
        auto const block = walk.step(k);
        blocks.set(k, block ? *block : detail::receive_search(skips, skips.target(rank, k), k).block(k));
    }
    blocks.set(0, walk.base_block() - q);
    return blocks;
}

} // namespace papcoll::inline v0
