// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/scheduler/circulant/receive_blocks.hpp>
#include <papcoll/scheduler/circulant/skips.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace papcoll::inline v0 {

/// The receive and send blocks of all p ranks, for operations in which every rank is a root: for root j rank
/// r follows the schedule of rank (r − j) mod p. O(p log p) time, p ⌈log2 p⌉ bytes.
class circulant_table {
public:
    explicit circulant_table(circulant_skips const& skips)
        : m_skips(skips)
        , m_blocks(static_cast<std::size_t>(skips.ranks()) * static_cast<std::size_t>(skips.rounds())) {
        int const q = skips.rounds();
        if (q == 0) return;
        auto const ranks = static_cast<std::size_t>(skips.ranks());
        for (int rank = 0; rank < skips.ranks(); ++rank) {
            detail::receive_search const search(skips, rank, q - 1);
            auto* entry = m_blocks.data() + rank;
            for (int k = 0; k < q; ++k, entry += ranks) *entry = static_cast<std::int8_t>(search.block(k));
        }
    }

    /// The skips of the graph, round by round.
    [[nodiscard]] auto skips() const -> circulant_skips const& { return m_skips; }
    /// What the ranks 0 … p−1, counted from the root, receive in round k.
    [[nodiscard]] auto receives(int round) const -> std::span<std::int8_t const> {
        auto const ranks = static_cast<std::size_t>(m_skips.ranks());
        return std::span(m_blocks).subspan(static_cast<std::size_t>(round) * ranks, ranks);
    }
    /// receive_blocks(skips, rank)[round]
    [[nodiscard]] auto receives(int rank, int round) const -> int {
        return receives(round)[static_cast<std::size_t>(rank)];
    }
    /// send_blocks(skips, rank)[round]: what is sent is what the target receives.
    [[nodiscard]] auto sends(int rank, int round) const -> int {
        return receives(m_skips.target(rank, round), round);
    }

private:
    circulant_skips m_skips;
    std::vector<std::int8_t> m_blocks;
};

} // namespace papcoll::inline v0
