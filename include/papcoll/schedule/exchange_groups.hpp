// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// Puts at most `rounds` factors of n, from `most` down, each no larger than the one before, behind the
/// others.
[[nodiscard]] inline auto add_factors(std::vector<int>& factors, int n, int rounds, int most) -> bool {
    if (n == 1) return true;
    std::int64_t reached = 1; // by factors as large as may be
    for (int i = 0; i < rounds && reached < n; ++i) reached *= most;
    if (reached < n) return false;
    for (int f = std::min(most, n); f >= 2; --f) {
        if (n % f != 0) continue;
        factors.push_back(f);
        if (add_factors(factors, n / f, rounds - 1, f)) return true;
        factors.pop_back();
    }
    return false;
}

} // namespace detail

/// The sizes of groups, at most `radix`, that multiply to the number of ranks in ⌈log_k P⌉ factors, k being
/// the radix: what exchanges within groups need to be no more rounds than a dissemination. The largest first;
/// empty where there are none, and for one rank.
///
/// Throws std::invalid_argument when there is no rank, or for a radix below 2.
[[nodiscard]] inline auto exchange_groups(int ranks, int radix) -> std::vector<int> {
    detail::require(ranks >= 1, "ranks must be at least 1", ranks);
    detail::require(radix >= 2, "radix must be at least 2", radix);
    int rounds = 0;
    for (std::int64_t reached = 1; reached < ranks; reached *= radix) ++rounds;
    std::vector<int> groups;
    (void)detail::add_factors(groups, ranks, rounds, std::min(radix, ranks));
    return groups;
}

} // namespace papcoll::inline v0
