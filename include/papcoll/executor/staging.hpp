// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/buffers.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace papcoll::inline v0::detail {

/// n elements as one message; `staging` holds what is not sent as it is.
template <transportable T>
[[nodiscard]] auto bytes_to_send(T const* values, std::size_t n, std::vector<std::byte>& staging)
    -> std::span<std::byte const> {
    if constexpr (wire_format<T>::is_bytes) {
        return std::as_bytes(std::span(values, n));
    } else {
        staging.resize(wire_format<T>::bytes(n));
        wire_format<T>::pack(values, n, staging);
        return staging; // with its slack: both ends count the same bytes
    }
}
/// Where n elements arrive.
template <transportable T>
[[nodiscard]] auto bytes_to_receive(T* values, std::size_t n, std::vector<std::byte>& staging)
    -> std::span<std::byte> {
    if constexpr (wire_format<T>::is_bytes) {
        return std::as_writable_bytes(std::span(values, n));
    } else {
        staging.resize(wire_format<T>::bytes(n));
        return staging;
    }
}
/// They are in.
template <transportable T>
void received([[maybe_unused]] T* values, [[maybe_unused]] std::size_t n,
              [[maybe_unused]] std::vector<std::byte> const& staging) {
    if constexpr (!wire_format<T>::is_bytes) wire_format<T>::unpack(staging, values, n);
}

} // namespace papcoll::inline v0::detail
