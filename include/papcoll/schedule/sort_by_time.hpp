// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// Sorts ranks by their times, of which there is one per rank, and equal ones by rank; without times all are
/// equal. One function for all schedulers, since each sort is some kilobytes of code.
inline void sort_by_time(std::vector<int>& ranks, std::span<ticks const> times) {
    auto const key = [&](int rank) {
        return std::pair(times.empty() ? ticks{0} : times[static_cast<std::size_t>(rank)], rank);
    };
    std::sort(ranks.begin(), ranks.end(), [&](int a, int b) { return key(a) < key(b); });
}

} // namespace papcoll::inline v0::detail
