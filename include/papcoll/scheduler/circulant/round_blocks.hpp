// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace papcoll::inline v0 {

/// What one rank receives, or sends, in the rounds k = 0 … q−1 of a phase: block b ≥ 0 of the same phase or,
/// where b < 0, block b + q of the phase before. Entries from q on are meaningless.
class circulant_blocks {
public:
    /// The block of a round; negative: none.
    [[nodiscard]] constexpr auto operator[](int round) const -> int {
        return m_blocks[static_cast<std::size_t>(round)];
    }
    /// Says which block a round has.
    constexpr void set(int round, int block) {
        m_blocks[static_cast<std::size_t>(round)] = static_cast<std::int8_t>(block);
    }

private:
    std::array<std::int8_t, 32> m_blocks{}; // a block is at least −31, and at most 30
};

} // namespace papcoll::inline v0
