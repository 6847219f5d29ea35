// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace papcoll::inline v0::detail {

inline constexpr std::uint64_t hash_of_nothing = 14695981039346656037u;

/// FNV-1a: the same number for the same bytes on every rank; `seed` is the hash of what comes before.
[[nodiscard]] inline auto hash_bytes(std::span<std::byte const> bytes, std::uint64_t seed = hash_of_nothing)
    -> std::uint64_t {
    for (auto const b : bytes) seed = (seed ^ static_cast<std::uint64_t>(b)) * 1099511628211u;
    return seed;
}
[[nodiscard]] inline auto hash_text(std::string_view text, std::uint64_t seed = hash_of_nothing)
    -> std::uint64_t {
    return hash_bytes(std::as_bytes(std::span(text)), seed);
}

} // namespace papcoll::inline v0::detail
