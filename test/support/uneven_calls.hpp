// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/call_shape.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

/// Calls in which much, little or nothing belongs to a rank.
namespace uneven_calls {

using papcoll::call_shape;
using papcoll::collective_kind;
using size_list = std::vector<std::size_t>;

/// A call of any size, of one byte for each element; the lists are not owned.
[[nodiscard]] inline auto shape_of(collective_kind operation, int ranks, std::size_t count,
                                   size_list const& sizes = {}) -> call_shape {
    call_shape shape{.operation = operation, .ranks = ranks};
    shape.count = sizes.empty() ? count : std::accumulate(sizes.begin(), sizes.end(), std::size_t(0));
    shape.sizes = sizes;
    return shape;
}
[[nodiscard]] inline auto has_parts(collective_kind operation) -> bool {
    return operation == collective_kind::all_gather || operation == collective_kind::reduce_scatter;
}

[[nodiscard]] inline auto one_long(int ranks, std::size_t length) -> size_list {
    size_list sizes(static_cast<std::size_t>(ranks), 8);
    sizes[sizes.size() / 3] = length;
    return sizes;
}
[[nodiscard]] inline auto ramp(int ranks, std::size_t step) -> size_list {
    size_list sizes(static_cast<std::size_t>(ranks));
    for (std::size_t r = 0; r < sizes.size(); ++r) sizes[r] = r * step;
    return sizes;
}
[[nodiscard]] inline auto half_empty(int ranks, std::size_t length) -> size_list {
    size_list sizes(static_cast<std::size_t>(ranks));
    std::fill_n(sizes.begin(), (sizes.size() + 1) / 2, length);
    return sizes;
}
/// Of all magnitudes, many of them 0.
[[nodiscard]] inline auto scattered(int ranks) -> size_list {
    size_list sizes;
    unsigned x = 1;
    for (int r = 0; r < ranks; ++r) {
        x = x * 1'664'525 + 1'013'904'223;
        sizes.push_back((x >> 8) >> (x >> 27));
    }
    return sizes;
}

} // namespace uneven_calls
