// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/bytes_of.hpp>
#include <papcoll/executor/serialization.hpp>

#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/mpi/datatype.hpp>
#include <boost/serialization/level.hpp>
#include <boost/serialization/string.hpp>

#include <concepts>
#include <cstddef>
#include <ranges>
#include <span>
#include <stdexcept>
#include <streambuf>
#include <type_traits>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// Where an archive writes to.
class archive_sink final : public std::streambuf {
public:
    [[nodiscard]] auto take() -> std::vector<char> { return std::move(m_bytes); }

protected:
    auto overflow(int_type c) -> int_type override {
        if (!traits_type::eq_int_type(c, traits_type::eof())) m_bytes.push_back(traits_type::to_char_type(c));
        return traits_type::not_eof(c);
    }
    auto xsputn(char const* from, std::streamsize count) -> std::streamsize override {
        m_bytes.insert(m_bytes.end(), from, from + count);
        return count;
    }

private:
    std::vector<char> m_bytes;
};

/// Where an archive reads from.
class archive_source final : public std::streambuf {
public:
    explicit archive_source(std::span<char const> bytes) {
        auto* const begin = const_cast<char*>(bytes.data()); // NOLINT: streambufs read through char*
        setg(begin, begin, begin + bytes.size());
    }
    [[nodiscard]] auto is_read() const -> bool { return gptr() == egptr(); }
};

namespace serialize_probe {

/// A free `serialize` for the archive that is used, and for no other.
template <class T>
concept finds_overload_for_archive = requires(boost::archive::binary_oarchive& archive, T& value, version v) {
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

} // namespace detail

/// Types that are neither bytes nor have a Boost.MPI datatype travel by Boost.Serialization, in its binary
/// archives without a header: all ranks must run on machines of one data layout. Needs Boost.Serialization's
/// library, not MPI's.
template <detail::archived_type T>
struct archive_format<T> {
    static auto save(T const* values, std::size_t n) -> std::vector<char> {
        detail::archive_sink sink;
        {
            boost::archive::binary_oarchive archive(static_cast<std::streambuf&>(sink), flags);
            for (std::size_t i = 0; i < n; ++i) archive << values[i];
        }
        return sink.take();
    }
    static void load(std::span<char const> bytes, T* values, std::size_t n) {
        detail::archive_source source(bytes);
        boost::archive::binary_iarchive archive(static_cast<std::streambuf&>(source), flags);
        for (std::size_t i = 0; i < n; ++i) archive >> values[i];
        if (!source.is_read())
            throw std::length_error("papcoll: a serialized value has more bytes than were loaded; "
                                    "do all ranks give the same number of values?");
    }

private:
    static constexpr unsigned flags = boost::archive::no_header | boost::archive::no_codecvt;
};

} // namespace papcoll::inline v0
