// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/boost_mpi_names.hpp>

#include <algorithm>
#include <array>
#include <bitset>
#include <chrono>
#include <complex>
#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace papcoll::inline v0::detail {

/// An archive for overload resolution alone. Boost's namespaces are associated with it as they are with
/// Boost's archives.
template <class...>
struct probe_archive {
    using is_saving = std::true_type;
    using is_loading = std::false_type;

    template <class T>
    auto operator&(T&& value) -> probe_archive&;
    template <class T>
    auto operator<<(T&& value) -> probe_archive&;
};
using any_archive = probe_archive<boost::serialization::access, boost::archive::binary_oarchive>;

namespace serialize_probe {

struct nothing {};
/// Converts to the version that `serialize` takes, as that of Boost.Serialization does.
struct version {
    operator unsigned() const; // NOLINT(google-explicit-constructor)
};
/// As general as Boost.Serialization's default, which forwards to the member: where both are visible they
/// are ambiguous, and an overload for T is better than either.
template <class Archive, class T>
auto serialize(Archive& archive, T& value, unsigned version) -> nothing;

template <class T>
concept finds_overload = requires(any_archive& archive, T& value, version v) {
    requires !std::same_as<decltype(serialize(archive, value, v)), nothing>;
};

struct member_name {
    int serialize;
};
/// Its `serialize` is ambiguous where T has a member of that name, accessible or not.
template <class T>
struct named_twice : T, member_name {};

template <class T>
concept names_one_member = requires {
    &named_twice<T>::serialize;
};
template <class T>
concept calls_member = requires(any_archive& archive, T& value, version v) {
    value.serialize(archive, v);
};

} // namespace serialize_probe

/// Whether T has a member `serialize`, private ones included. Of final classes and of unions it must be
/// public to be seen.
template <class T>
inline constexpr bool has_serialize_member = serialize_probe::calls_member<T>;
template <class T>
requires(std::is_class_v<T> && !std::is_final_v<T>) inline constexpr bool has_serialize_member<T> =
    !serialize_probe::names_one_member<T>;

/// Whether the user says how T is serialized: by a member `serialize(archive, version)`, or by a free
/// `serialize(archive, value, version)` in the namespace of T or in boost::serialization. All files must see
/// the latter before their first collective of T.
template <class T>
inline constexpr bool has_own_serialize = false;
template <class T>
requires(std::is_class_v<T> || std::is_union_v<T>) inline constexpr bool has_own_serialize<T> =
    has_serialize_member<T> || serialize_probe::finds_overload<T>;

/// Whether the user says that the bytes of T are all there is to it.
template <class T>
inline constexpr bool declared_as_bytes =
    says_true<boost::mpi::is_mpi_datatype, T> || says_true<boost::serialization::is_bitwise_serializable, T>;

/// Types whose bytes are addresses: what they refer to stays where it is.
template <class T>
inline constexpr bool refers_elsewhere =
    std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::input_or_output_iterator<T> ||
    std::ranges::enable_view<T> || std::ranges::enable_borrowed_range<T>;
template <class T>
inline constexpr bool refers_elsewhere<std::reference_wrapper<T>> = true;
template <class T>
inline constexpr bool refers_elsewhere<std::initializer_list<T>> = true;
template <class T>
inline constexpr bool refers_elsewhere<boost::mpi::skeleton_proxy<T>> = true;
template <>
inline constexpr bool refers_elsewhere<boost::mpi::content> = true;
template <>
inline constexpr bool refers_elsewhere<boost::mpi::packed_skeleton_iarchive> = true;
template <>
inline constexpr bool refers_elsewhere<boost::mpi::packed_skeleton_oarchive> = true;

template <class... Ts>
struct type_list {};
/// The types that a type of the standard library is made of: what its bytes mean follows from them, whichever
/// headers of Boost.Serialization are included.
template <class T>
struct parts_of {};
template <class T, std::size_t N>
struct parts_of<T[N]> { // NOLINT(modernize-avoid-c-arrays)
    using type = type_list<T>;
};
template <class T, std::size_t N>
struct parts_of<std::array<T, N>> {
    using type = type_list<T>;
};
template <class T>
struct parts_of<std::complex<T>> {
    using type = type_list<T>;
};
template <class T, class U>
struct parts_of<std::pair<T, U>> {
    using type = type_list<T, U>;
};
template <class... Ts>
struct parts_of<std::tuple<Ts...>> {
    using type = type_list<Ts...>;
};
template <class T>
struct parts_of<std::optional<T>> {
    using type = type_list<T>;
};
template <class... Ts>
struct parts_of<std::variant<Ts...>> {
    using type = type_list<Ts...>;
};
template <std::size_t N>
struct parts_of<std::bitset<N>> {
    using type = type_list<>;
};
template <class T, class Period>
struct parts_of<std::chrono::duration<T, Period>> {
    using type = type_list<T>;
};
template <class Clock, class Duration>
struct parts_of<std::chrono::time_point<Clock, Duration>> {
    using type = type_list<Duration>;
};

/// What the bytes of an object mean on another rank.
enum class byte_meaning {
    value,         ///< the same value
    own_serialize, ///< not the value, or not all of it: its type says how it is serialized
    address        ///< nothing
};

template <class T>
constexpr auto meaning_of_bytes() -> byte_meaning;
template <class... Ts>
constexpr auto meaning_of_bytes(type_list<Ts...>) -> byte_meaning {
    return std::max({byte_meaning::value, meaning_of_bytes<Ts>()...});
}
template <class T>
constexpr auto meaning_of_bytes() -> byte_meaning {
    using type = std::remove_cv_t<T>;
    if constexpr (declared_as_bytes<type>)
        return byte_meaning::value;
    else if constexpr (requires { typename parts_of<type>::type; })
        return meaning_of_bytes(typename parts_of<type>::type());
    else if constexpr (has_own_serialize<type>)
        return byte_meaning::own_serialize;
    else
        return refers_elsewhere<type> ? byte_meaning::address : byte_meaning::value;
}

template <class T>
inline constexpr bool bytes_are_value = meaning_of_bytes<T>() == byte_meaning::value;
/// Types that travel as their bytes.
template <class T>
concept byte_copyable = std::is_trivially_copyable_v<T> && bytes_are_value<T>;
/// Types that mean something on this rank alone, however they travel.
template <class T>
inline constexpr bool bound_to_rank =
    refers_elsewhere<std::remove_cv_t<T>> && !has_own_serialize<std::remove_cv_t<T>>;
template <class T>
requires std::is_trivially_copyable_v<T>
inline constexpr bool bound_to_rank<T> = meaning_of_bytes<T>() == byte_meaning::address;

} // namespace papcoll::inline v0::detail
