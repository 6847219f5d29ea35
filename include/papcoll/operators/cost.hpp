// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/operators/combine.hpp>
#include <papcoll/operators/operators.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <memory>

namespace papcoll::inline v0 {

/// What `op` takes per element of type T, in nanoseconds: the fastest of several passes over a few elements
/// equal to `sample`, that is, with data in the cache. Takes about a fifth of a millisecond, or 16
/// combinations where those take longer. Local: other ranks measure something else, see agreed_combine_cost.
/// Throws what the operator throws.
template <class T, reduction_operator<T> Op>
[[nodiscard]] auto measure_combine_cost(Op op, T const& sample = T()) -> double {
    using clock = std::chrono::steady_clock;
    std::size_t const n = std::clamp<std::size_t>((std::size_t(16) << 10) / sizeof(T), 1, 4096);
    auto const left = std::make_unique<T[]>(n), right = std::make_unique<T[]>(n),
               result = std::make_unique<T[]>(n);
    std::fill_n(left.get(), n, sample);
    std::fill_n(right.get(), n, sample);
    double best = std::numeric_limits<double>::infinity();
    auto const begin = clock::now();
    for (int pass = 0; pass < 16 || clock::now() - begin < std::chrono::microseconds(200); ++pass) {
        auto const start = clock::now();
        detail::combine(left.get(), right.get(), result.get(), n, op);
        std::chrono::duration<double, std::nano> const time = clock::now() - start;
        best = std::min(best, time.count());
    }
    return best / static_cast<double>(n);
}

} // namespace papcoll::inline v0
