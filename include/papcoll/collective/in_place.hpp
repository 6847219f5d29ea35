// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/boost_mpi_names.hpp>

namespace papcoll::inline v0 {

/// Says that a call replaces these values by its result: boost::mpi::inplace(values), or, without Boost.MPI,
/// inplace(values). A pointer to the elements, or a single one.
template <class T>
struct inplace_t {
    /// The value, or the first of the values.
    T& buffer;
};
template <class T>
struct inplace_t<T*> {
    T* buffer;
};

/// A single value that the result replaces.
template <class T>
[[nodiscard]] auto inplace(T& value) -> inplace_t<T> {
    return {value};
}
/// Values, by a pointer to the first, that the result replaces.
template <class T>
[[nodiscard]] auto inplace(T* values) -> inplace_t<T*> {
    return {values};
}

namespace detail {

template <class V>
struct in_place_elements {};
template <class T>
struct in_place_elements<inplace_t<T>> {
    using type = T;
};
template <class T>
struct in_place_elements<boost::mpi::inplace_t<T>> {
    using type = T;
};
template <class T>
struct in_place_elements<inplace_t<T*>> {
    using array = T;
};
template <class T>
struct in_place_elements<boost::mpi::inplace_t<T*>> {
    using array = T;
};

/// inplace(values) of a pointer.
template <class V>
concept in_place_array = requires {
    typename in_place_elements<V>::array;
};
/// inplace(value) of a single value.
template <class V>
concept in_place_value = requires {
    typename in_place_elements<V>::type;
};
template <in_place_array V>
using in_place_array_element = typename in_place_elements<V>::array;
template <in_place_value V>
using in_place_value_element = typename in_place_elements<V>::type;

} // namespace detail

} // namespace papcoll::inline v0
