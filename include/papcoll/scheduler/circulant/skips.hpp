// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace papcoll::inline v0 {

/// The circulant graph of p ranks: q = ⌈log2 p⌉ skips, s[q] = p and s[k] = ⌈s[k+1]/2⌉, so s[k] = ⌈p/2^(q−k)⌉.
/// In round k every rank r sends to r + s[k] and receives from r − s[k], modulo p.
///
/// Paper 3, Algorithms 1 and 2. Construction is O(log p), without allocation. Throws std::invalid_argument
/// when there is no rank; every positive int is allowed.
class circulant_skips {
public:
    /// The most rounds a graph can have: ⌈log2(2^31 − 1)⌉.
    static constexpr int max_rounds = 31;

    constexpr explicit circulant_skips(int ranks)
        : m_ranks(ranks) {
        if (ranks < 1) detail::require(false, "the number of ranks must be at least 1", ranks);
        m_rounds = static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1)));
        std::int64_t skip = ranks;
        for (int k = m_rounds; k >= 0; --k) {
            m_skips[static_cast<std::size_t>(k)] = skip;
            skip = (skip + 1) / 2;
        }
    }

    /// The number of ranks.
    [[nodiscard]] constexpr auto ranks() const -> int { return m_ranks; }
    /// q, the number of rounds in a phase.
    [[nodiscard]] constexpr auto rounds() const -> int { return m_rounds; }
    /// s[k] for k = 0 … q. Wide, because sums of them exceed int.
    [[nodiscard]] constexpr auto operator[](int k) const -> std::int64_t {
        return m_skips[static_cast<std::size_t>(k)];
    }
    /// The largest k ≤ q with s[k] ≤ distance, in O(1); distance is at least 1.
    [[nodiscard]] constexpr auto largest_within(std::int64_t distance) const -> int {
        // 2^(k−1) < s[k] ≤ 2^k leaves two candidates.
        int const k = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(distance)));
        if (k > m_rounds) return m_rounds;
        return k - ((*this)[k] <= distance ? 0 : 1);
    }
    /// The rank that `rank` sends to in round k.
    [[nodiscard]] constexpr auto target(int rank, int k) const -> int {
        auto const r = rank + (*this)[k];
        return static_cast<int>(r >= m_ranks ? r - m_ranks : r);
    }
    /// The rank that `rank` receives from in round k.
    [[nodiscard]] constexpr auto source(int rank, int k) const -> int {
        auto const r = rank - (*this)[k];
        return static_cast<int>(r < 0 ? r + m_ranks : r);
    }
    /// The base block of a rank counted from the root: the block that it receives first, in the round of that
    /// number. Taking the largest skip away again and again, it is the last skip taken; q for the root
    /// itself.
    [[nodiscard]] constexpr auto base_block(int rank) const -> int {
        if (rank == 0) return m_rounds;
        std::int64_t rest = rank;
        for (;;) {
            int const k = largest_within(rest);
            rest -= (*this)[k];
            if (rest == 0) return k;
        }
    }

private:
    int m_ranks;
    int m_rounds = 0;
    std::array<std::int64_t, max_rounds + 1> m_skips{};
};

} // namespace papcoll::inline v0
