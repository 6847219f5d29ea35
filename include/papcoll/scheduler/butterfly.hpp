// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/butterfly_round.hpp>
#include <papcoll/schedule/problem.hpp>
#include <papcoll/scheduler/detail/folded_ranks.hpp>

#include <bit>
#include <cstddef>
#include <vector>

namespace papcoll::inline v0 {

/// The rounds in which a rank takes part in a butterfly (recursive doubling): an all-reduce of whole
/// operands.
///
/// With P = 2^k + e ranks, 0 ≤ e < 2^k, the first 2e ranks form pairs: the odd one gives its operand to the
/// even one below, and learns the result from it at the end. The pairs and the ranks behind them are 2^k
/// groups of neighbours in rank order; in round i those whose numbers differ in bit i exchange what they hold
/// and both combine it, the lower group's on the left.
///
/// So before round i the groups that differ in the lowest i bits alone hold the same: the operands of all of
/// them, which are neighbours, combined in the order of ranks with the same brackets. Operators need not be
/// commutative, and with rounding, too, all ranks get the same bits. k rounds of α + β m, two more for e > 0:
/// for short operands (Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in
/// MPICH, 2005).
///
/// O(log P). Throws std::invalid_argument when there is no rank, or for a rank out of range.
[[nodiscard]] inline auto butterfly(int ranks, int rank) -> std::vector<butterfly_round> {
    using work = butterfly_round::work;
    detail::require(ranks >= 1, "ranks must be at least 1", ranks);
    detail::require(rank >= 0 && rank < ranks, "rank must be a rank", rank);
    detail::folded_ranks const folded(ranks);
    int const group = folded.group_of(rank);
    int const first = folded.first_of(group);
    if (rank != first) return {{work::give, first}, {work::learn, first}};

    std::vector<butterfly_round> rounds;
    rounds.reserve(static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(folded.groups()))) + 1);
    if (folded.is_pair(group)) rounds.push_back({work::take, rank + 1});
    for (int bit = 1; bit < folded.groups(); bit *= 2)
        rounds.push_back({work::exchange, folded.first_of(group ^ bit)});
    if (folded.is_pair(group)) rounds.push_back({work::tell, rank + 1});
    return rounds;
}

} // namespace papcoll::inline v0
