// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <vector>

namespace papcoll::inline v0::detail {

/// The memory that these lists have allocated, whether they use it or not.
template <class... T>
[[nodiscard]] auto held_bytes(std::vector<T> const&... lists) -> std::size_t {
    return (std::size_t(0) + ... + (lists.capacity() * sizeof(T))); // NOLINT(bugprone-sizeof-expression)
}
[[nodiscard]] inline auto held_bytes(std::vector<bool> const& bits) -> std::size_t {
    return bits.capacity() / 8;
}

} // namespace papcoll::inline v0::detail
