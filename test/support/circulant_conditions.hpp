// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/scheduler/circulant/round_blocks.hpp>
#include <papcoll/scheduler/circulant/skips.hpp>

#include <cstdint>

namespace circulant_conditions {

/// What makes an n-block broadcast right, for one rank counted from the root:
///  1. what it sends in round k is what its target receives, expected(k);
///  2. in a phase it receives its base block of that phase, and of the phase before every other block;
///  3. what it sends it received in an earlier round of the phase, or as base block of the phase before;
///  4. the root sends block k in round k.
/// `expected` may be computed anyhow; that a rank receives what its source sends is 1 for the source.
template <class Expected>
auto hold(papcoll::circulant_skips const& skips, int rank, papcoll::circulant_blocks const& receives,
          papcoll::circulant_blocks const& sends, Expected const& expected) -> bool {
    int const q = skips.rounds();
    int const base = skips.base_block(rank);
    auto const bit = [q](int block) { return std::uint64_t{1} << (block + q); };
    std::uint64_t arrived = 0;
    bool good = true;
    for (int k = 0; k < q; ++k) {
        bool const in_range = receives[k] >= -q && receives[k] < q && sends[k] >= -q && sends[k] < q;
        if (!in_range || sends[k] != expected(k)) return false;
        good &= rank == 0 ? sends[k] == k : ((arrived | bit(base - q)) & bit(sends[k])) != 0;
        arrived |= bit(receives[k]);
    }
    if (rank == 0) return good;
    auto const others = (bit(0) - 1) & ~bit(base - q);
    return good && arrived == (others | bit(base));
}

} // namespace circulant_conditions
