// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/bytes_of.hpp>
#include <papcoll/executor/serialization.hpp>

#include <boost/archive/archive_exception.hpp>
#include <boost/archive/basic_archive.hpp>
#include <boost/archive/detail/common_iarchive.hpp>
#include <boost/archive/detail/common_oarchive.hpp>
#include <boost/archive/detail/register_archive.hpp>
#include <boost/archive/impl/archive_serializer_map.ipp>
#include <boost/mpi/datatype.hpp>
#include <boost/serialization/array_optimization.hpp>
#include <boost/serialization/array_wrapper.hpp>
#include <boost/serialization/is_bitwise_serializable.hpp>
#include <boost/serialization/level.hpp>
#include <boost/serialization/string.hpp>

#include <concepts>
#include <cstddef>
#include <cstring>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace papcoll::inline v0 {

/// The archive that saves values that travel serialized: their bytes one behind the other, as this machine
/// has them. It is a model of Boost.Serialization's Saving Archive, for a `serialize` that is written for one
/// archive alone.
class BOOST_SYMBOL_VISIBLE value_oarchive final
    : public boost::archive::detail::common_oarchive<value_oarchive> {
    using base = boost::archive::detail::common_oarchive<value_oarchive>;
    friend class boost::archive::detail::interface_oarchive<value_oarchive>;
    friend base;
    friend class boost::archive::save_access;

public:
    /// Appends to `to`, which outlives it.
    explicit value_oarchive(std::vector<char>& to)
        : base(boost::archive::no_header)
        , m_to(to) {}

    /// Of Boost's concept: saves so many bytes as they are.
    void save_binary(void const* from, std::size_t bytes) {
        auto const* const begin = static_cast<char const*>(from);
        m_to.insert(m_to.end(), begin, begin + bytes);
    }
    /// Of Boost's concept: saves elements that are no more than their bytes.
    template <class T>
    void save_array(boost::serialization::array_wrapper<T> const& a, unsigned) {
        save_binary(a.address(), a.count() * sizeof(T));
    }
    /// By which Boost asks whether elements of a type are saved and loaded as an array.
    struct use_array_optimization {
        /// For type T.
        template <class T>
        struct apply : boost::serialization::is_bitwise_serializable<std::remove_const_t<T>> {};
    };

private:
    template <class T>
    void save(T const& primitive) {
        save_binary(&primitive, sizeof(T));
    }
    template <class Char>
    void save(std::basic_string<Char> const& text) {
        save(text.size());
        save_binary(text.data(), text.size() * sizeof(Char));
    }
    template <class T>
    void save_override(T const& value) {
        base::save_override(value);
    }
    void save_override(boost::archive::class_id_optional_type const&) {}
    void save_override(boost::archive::class_name_type const& name) {
        *this << std::string(static_cast<char const*>(name));
    }

    std::vector<char>& m_to;
};

/// The archive that loads what value_oarchive has saved; a model of Boost.Serialization's Loading Archive.
/// Throws boost::archive::archive_exception where there is less than is to be loaded.
class BOOST_SYMBOL_VISIBLE value_iarchive final
    : public boost::archive::detail::common_iarchive<value_iarchive> {
    using base = boost::archive::detail::common_iarchive<value_iarchive>;
    friend class boost::archive::detail::interface_iarchive<value_iarchive>;
    friend base;
    friend class boost::archive::load_access;

public:
    /// The bytes outlive it.
    explicit value_iarchive(std::span<char const> bytes)
        : base(boost::archive::no_header)
        , m_left(bytes) {}

    /// How many bytes have not been loaded.
    [[nodiscard]] auto left() const -> std::size_t { return m_left.size(); }

    /// Of Boost's concept: loads so many bytes as they are.
    void load_binary(void* to, std::size_t bytes) {
        auto const from = take(bytes);
        if (bytes > 0) std::memcpy(to, from.data(), bytes);
    }
    /// Of Boost's concept: loads elements that are no more than their bytes.
    template <class T>
    void load_array(boost::serialization::array_wrapper<T>& a, unsigned) {
        load_binary(a.address(), a.count() * sizeof(T));
    }
    /// By which Boost asks whether elements of a type are saved and loaded as an array.
    struct use_array_optimization {
        /// For type T.
        template <class T>
        struct apply : boost::serialization::is_bitwise_serializable<std::remove_const_t<T>> {};
    };

private:
    template <class T>
    void load(T& primitive) { // NOLINT(bugprone-virtual-near-miss): the name is Boost's
        load_binary(&primitive, sizeof(T));
    }
    template <class Char>
    void load(std::basic_string<Char>& text) {
        std::size_t count = 0;
        load(count);
        if (count > m_left.size() / sizeof(Char)) throw_too_short();
        text.resize(count);
        load_binary(text.data(), count * sizeof(Char));
    }
    template <class T>
    void load_override(T& value) {
        base::load_override(value);
    }
    void load_override(boost::archive::class_id_optional_type&) {}
    void load_override(boost::archive::class_name_type& name) {
        std::string text;
        *this >> text;
        if (text.size() >= BOOST_SERIALIZATION_MAX_KEY_SIZE)
            throw boost::archive::archive_exception(boost::archive::archive_exception::invalid_class_name);
        text.copy(static_cast<char*>(name), text.size());
        static_cast<char*>(name)[text.size()] = '\0';
    }
    auto take(std::size_t bytes) -> std::span<char const> {
        if (bytes > m_left.size()) throw_too_short();
        auto const taken = m_left.first(bytes);
        m_left = m_left.subspan(bytes);
        return taken;
    }
    [[noreturn]] static void throw_too_short() {
        throw boost::archive::archive_exception(boost::archive::archive_exception::input_stream_error);
    }

    std::span<char const> m_left;
};

namespace detail {

namespace serialize_probe {

/// A free `serialize` for the archive that is used, and for no other.
template <class T>
concept finds_overload_for_archive = requires(value_oarchive& archive, T& value, version v) {
    requires !std::same_as<decltype(serialize(archive, value, v)), nothing>;
};

} // namespace serialize_probe

/// Types as the standard library has them, for which Boost.Serialization has headers that may come later.
template <class T>
concept like_standard_type = std::ranges::range<T> || requires(T& value) {
    *value;
} || requires {
    typename parts_of<T>::type;
};
/// Whether Boost.Serialization can be asked for T. Of classes it needs to be told how; a private `serialize`
/// of a final class cannot be seen, so that final ones may be any.
template <class T>
inline constexpr bool is_told_how_to_serialize =
    !std::is_class_v<T> || std::is_final_v<T> || has_own_serialize<T> || like_standard_type<T> ||
    serialize_probe::finds_overload_for_archive<T> ||
    boost::serialization::implementation_level<T>::value < boost::serialization::object_serializable;

template <class T>
concept archived_type = !byte_copyable<T> && !boost::mpi::is_mpi_datatype<T>::value && !bound_to_rank<T> &&
                        std::default_initializable<T> && is_told_how_to_serialize<T>;

/// Strings, and vectors of numbers: their size and their elements are all there is to save.
template <class T>
inline constexpr bool is_plain_sequence = false;
template <class Char, class Traits, class Allocator>
inline constexpr bool is_plain_sequence<std::basic_string<Char, Traits, Allocator>> = true;
template <class T, class Allocator>
inline constexpr bool is_plain_sequence<std::vector<T, Allocator>> =
    std::is_arithmetic_v<T> && !std::same_as<T, bool>;
template <class T>
concept plain_sequence = is_plain_sequence<T>;

template <plain_sequence T>
void save_plain(T const* values, std::size_t n, std::vector<char>& to) {
    constexpr auto element = sizeof(typename T::value_type);
    std::size_t all = to.size() + n * sizeof(std::size_t);
    for (std::size_t i = 0; i < n; ++i) all += values[i].size() * element;
    to.reserve(all);
    auto const add = [&](void const* from, std::size_t bytes) {
        auto const* const begin = static_cast<char const*>(from);
        to.insert(to.end(), begin, begin + bytes);
    };
    for (std::size_t i = 0; i < n; ++i) {
        std::size_t const size = values[i].size();
        add(&size, sizeof(size));
        add(values[i].data(), size * element);
    }
}
/// Returns how many bytes are left over.
template <plain_sequence T>
auto load_plain(std::span<char const> bytes, T* values, std::size_t n) -> std::size_t {
    constexpr auto element = sizeof(typename T::value_type);
    auto const take = [&](std::size_t count) {
        if (count > bytes.size())
            throw boost::archive::archive_exception(boost::archive::archive_exception::input_stream_error);
        auto const taken = bytes.first(count);
        bytes = bytes.subspan(count);
        return taken;
    };
    for (std::size_t i = 0; i < n; ++i) {
        std::size_t size = 0;
        std::memcpy(&size, take(sizeof(size)).data(), sizeof(size));
        auto const from = take(std::min(size, bytes.size() / element + 1) * element);
        values[i].resize(size);
        if (size > 0) std::memcpy(values[i].data(), from.data(), from.size());
    }
    return bytes.size();
}

} // namespace detail

/// Types that are neither bytes nor have a Boost.MPI datatype travel by Boost.Serialization, as
/// value_oarchive saves them: all ranks must run on machines of one data layout. Needs Boost.Serialization's
/// library, not MPI's.
template <detail::archived_type T>
struct archive_format<T> {
    static auto save(T const* values, std::size_t n) -> std::vector<char> {
        std::vector<char> bytes;
        append(values, n, bytes);
        return bytes;
    }
    static void append(T const* values, std::size_t n, std::vector<char>& to) {
        if constexpr (detail::plain_sequence<T>) {
            detail::save_plain(values, n, to);
        } else {
            value_oarchive archive(to);
            for (std::size_t i = 0; i < n; ++i) archive << values[i];
        }
    }
    static void load(std::span<char const> bytes, T* values, std::size_t n) {
        std::size_t left = 0;
        if constexpr (detail::plain_sequence<T>) {
            left = detail::load_plain(bytes, values, n);
        } else {
            value_iarchive archive(bytes);
            for (std::size_t i = 0; i < n; ++i) archive >> values[i];
            left = archive.left();
        }
        if (left > 0)
            throw std::length_error("papcoll: a serialized value has more bytes than were loaded; "
                                    "do all ranks give the same number of values?");
    }
};

} // namespace papcoll::inline v0

// What pointers to base classes need.
BOOST_SERIALIZATION_REGISTER_ARCHIVE(papcoll::value_oarchive)
BOOST_SERIALIZATION_REGISTER_ARCHIVE(papcoll::value_iarchive)
BOOST_SERIALIZATION_USE_ARRAY_OPTIMIZATION(papcoll::value_oarchive)
BOOST_SERIALIZATION_USE_ARRAY_OPTIMIZATION(papcoll::value_iarchive)
