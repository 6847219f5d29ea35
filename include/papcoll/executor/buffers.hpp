// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/bytes_of.hpp>

#include <cstddef>
#include <type_traits>

namespace papcoll::inline v0 {

/// How elements travel. Trivially copyable types are their own bytes, unless they have a `serialize` (a
/// member, or free) and neither BOOST_IS_BITWISE_SERIALIZABLE nor BOOST_IS_MPI_DATATYPE says that bytes will
/// do, or are known to be addresses, such as pointers, iterators and views. A specialisation for another type
/// gives `bytes(n)`, the most that n elements take packed, and `pack`, `unpack`; T must be
/// default-constructible.
template <class T>
struct wire_format;

template <detail::byte_copyable T>
struct wire_format<T> {
    static constexpr bool is_bytes = true;
    static constexpr auto bytes(std::size_t n) -> std::size_t { return n * sizeof(T); }
};

/// Types whose values travel as messages of a known length: as their bytes, or packed by MPI. A model is
/// double; a near-miss std::string, which is serialized.
template <class T>
concept transportable = requires {
    wire_format<T>::is_bytes;
};

namespace detail {

/// Whether elements need not be constructed before bytes are written over them.
template <class T>
inline constexpr bool travels_as_bytes = false;
template <transportable T>
requires std::is_trivially_copyable_v<T>
inline constexpr bool travels_as_bytes<T> = wire_format<T>::is_bytes;

} // namespace detail

} // namespace papcoll::inline v0
