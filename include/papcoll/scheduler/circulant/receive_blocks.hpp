// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/scheduler/circulant/round_blocks.hpp>
#include <papcoll/scheduler/circulant/skips.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace papcoll::inline v0 {

namespace detail {

/// Finds for the rounds k = 0, 1, … from which rank's base block comes what rank r receives.
///
/// A rank is reached from the root by a sum of decreasing skips, whose last one is its base block. In round k
/// rank r can get, by way of r − s[k], base blocks of ranks that lie s[k] or more below it. The search starts
/// at the root at distance r + p and extends sums depth first, the largest skip that fits first. It ends a
/// sum, and takes its last skip for round k, as soon as the distance is less than s[k+1]; ranks farther away
/// are taken only when the search comes back to them with nothing closer found. Each rank taken lies beyond
/// the one of the round before, and each base block is taken once.
class receive_search {
public:
    /// Stops when rounds 0 … last are known.
    constexpr receive_search(circulant_skips const& skips, int rank, int last)
        : m_skips(skips)
        , m_base(skips.base_block(rank))
        , m_distance(std::int64_t{skips.ranks()} + rank)
        , m_taken(std::int64_t{rank} - skips.ranks())
        , m_near(skips[0])
        , m_far(skips[1])
        , m_free(up_to(skips.rounds()) & ~bit(m_base))
        , m_allowed(m_free) {
        while (m_round <= last) {
            int skip = candidate();
            bool const found = skip >= 0;
            if (found && m_distance - m_skips[skip] >= m_far) {
                descend(skip);
                continue;
            }
            if (!found || m_distance < m_far) skip = ascend();
            take(skip);
        }
    }

    /// The block of a round as circulant_blocks has it.
    [[nodiscard]] constexpr auto block(int round) const -> int {
        int const found = m_found[round];
        return found == m_skips.rounds() ? m_base : found - m_skips.rounds();
    }

private:
    static constexpr auto bit(int k) -> std::uint64_t { return std::uint64_t{1} << k; }
    static constexpr auto up_to(int k) -> std::uint64_t { return (std::uint64_t{2} << k) - 1; }

    // The largest free skip that keeps s[k] away from r and stays beyond the rank taken last; −1: none.
    [[nodiscard]] constexpr auto candidate() const -> int {
        auto const room = m_distance - std::max(m_near, m_taken + 1);
        if (room <= 0) return -1;
        auto const fitting = m_free & m_allowed & up_to(m_skips.largest_within(room));
        return static_cast<int>(std::bit_width(fitting)) - 1;
    }
    constexpr void descend(int skip) {
        m_path[static_cast<std::size_t>(m_depth++)] = {m_distance, skip};
        m_distance -= m_skips[skip];
        m_allowed = up_to(skip);
    }
    // Back to the innermost sum that is still s[k+1] away, and the skip by which it was left.
    constexpr auto ascend() -> int {
        int skip = 0;
        do {
            auto const& left = m_path[static_cast<std::size_t>(--m_depth)];
            m_distance = left.distance;
            skip = left.skip;
        } while (m_distance < m_far);
        return skip;
    }
    constexpr void take(int skip) {
        m_found.set(m_round++, skip);
        m_near = m_far;
        m_far = m_round < m_skips.rounds() ? m_skips[m_round + 1] : 0;
        m_free &= ~bit(skip);
        m_taken = m_distance - m_skips[skip];
        m_allowed = bit(skip) - 1;
    }

    struct node {
        std::int64_t distance;
        int skip;
    };

    circulant_skips const& m_skips;
    circulant_blocks m_found;
    int m_base;
    int m_round = 0;
    int m_depth = 0;
    std::int64_t m_distance; // from r down to the sum that is being extended
    std::int64_t m_taken;    // the distance of the rank taken last
    std::int64_t m_near;     // s[k]
    std::int64_t m_far;      // s[k+1]
    std::uint64_t m_free;    // base blocks not taken yet, one bit each
    std::uint64_t m_allowed; // skips not larger than those the sum has
    std::array<node, 2 * circulant_skips::max_rounds + 2> m_path;
};

} // namespace detail

/// What a rank, counted from the root, receives in each round of a phase: its base block and, of the phase
/// before, every block but that one. The root has such entries, too; a broadcast leaves them out.
///
/// O(log p) time and space, no allocation. Paper 3, section 2, asks for it and constructs it in O(log² p);
/// this is the construction of its author's later work. It was verified for every rank of every p that
/// bench/results/circulant_schedule.md names.
[[nodiscard]] constexpr auto receive_blocks(circulant_skips const& skips, int rank) -> circulant_blocks {
    circulant_blocks blocks;
    if (skips.rounds() == 0) return blocks;
    detail::receive_search const search(skips, rank, skips.rounds() - 1);
    for (int k = 0; k < skips.rounds(); ++k) blocks.set(k, search.block(k));
    return blocks;
}

} // namespace papcoll::inline v0
