// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>

namespace papcoll::inline v0::detail {

[[noreturn]] inline void reject(std::string const& what) { throw std::invalid_argument("papcoll: " + what); }

inline void check_count(std::size_t n, std::size_t element_bytes) {
    if (n > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / element_bytes)
        reject("n must be a number of elements that memory can hold, but is " + std::to_string(n));
}
/// Whether the n bytes at a and the m bytes at b share none.
[[nodiscard]] inline auto are_apart(void const* a, std::size_t n, void const* b, std::size_t m) -> bool {
    std::less<> const before;
    auto const* const first = static_cast<char const*>(a);
    auto const* const second = static_cast<char const*>(b);
    return n == 0 || m == 0 || !before(first, second + m) || !before(second, first + n);
}

} // namespace papcoll::inline v0::detail
