// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/census_round.hpp>
#include <papcoll/schedule/problem.hpp>
#include <papcoll/scheduler/circulant/skips.hpp>

#include <cstddef>
#include <vector>

namespace papcoll::inline v0 {

/// The ⌈log2 p⌉ rounds in which a rank takes part in a census: an all-reduce that combines whole operands.
///
/// Rank r has its contribution x and a partial result S, empty at first. In each round it sends S, or x ⊕ S
/// where `own` says so, and at the same time receives B and takes S ⊕ B as new S. The result is x ⊕ S after
/// the last round; x where there is none. The first round always sends x alone and S is then what came, so no
/// neutral element is needed. Paper 3, Algorithm 8; q (α + β m) for m bytes: for short operands.
///
/// Why it is right: before round k, S has the contributions of the ranks r + 1 … r + s[k] − 1 modulo p, once
/// each. There are none for s[0] = 1. If s[k+1] = 2 s[k], rank r + s[k] sends its own and its S, that is the
/// contributions of r + s[k] … r + 2 s[k] − 1. Otherwise s[k+1] = 2 s[k] − 1, and rank r + s[k] − 1 sends its
/// S alone: r + s[k] … r + 2 s[k] − 2. Both continue S up to r + s[k+1] − 1. With s[q] = p, S ends with the
/// contributions of all others. As s[1] = 2 for p ≥ 2, round 0 is of the first kind, and in later rounds
/// 1 ≤ s[k] − 1 < p, so nobody sends to itself.
///
/// ⊕ must be associative and commutative exactly: each rank begins with its own contribution and goes round
/// from there, so with rounding the ranks would have different results.
///
/// O(log p). Throws std::invalid_argument when there is no rank, or for a rank out of range.
[[nodiscard]] inline auto circulant_census(int ranks, int rank) -> std::vector<census_round> {
    circulant_skips const skips(ranks);
    detail::require(rank >= 0 && rank < ranks, "rank must be a rank", rank);
    std::vector<census_round> rounds;
    rounds.reserve(static_cast<std::size_t>(skips.rounds()));
    for (int k = 0; k < skips.rounds(); ++k) {
        bool const own = skips[k + 1] == 2 * skips[k];
        auto const distance = skips[k] - (own ? 0 : 1);
        auto const below = rank - distance;
        auto const above = rank + distance;
        rounds.push_back({static_cast<int>(below < 0 ? below + ranks : below),
                          static_cast<int>(above >= ranks ? above - ranks : above), own});
    }
    return rounds;
}

} // namespace papcoll::inline v0
