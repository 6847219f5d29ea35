// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/buffers.hpp>
#include <papcoll/executor/native/datatype.hpp>
#include <papcoll/transport/mpi_error.hpp>

#include <boost/mpi/datatype.hpp>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <mutex>
#include <span>

namespace papcoll::inline v0 {

namespace detail {

template <class T>
concept packed_type = !byte_copyable<T> && boost::mpi::is_mpi_datatype<T>::value;

/// The most bytes that MPI packs in one call: it counts them in an int, and half of its range leaves room for
/// what a library adds.
inline constexpr std::size_t packed_most = std::size_t(1) << 30;

/// Held while Boost.MPI is asked for a datatype: its map of them has no lock, and threads make calls on
/// different communicators.
[[nodiscard, gnu::visibility("default")]] inline auto boost_datatypes() -> std::mutex& {
    static std::mutex lock;
    return lock;
}

[[nodiscard]] inline auto pack_size(MPI_Datatype type, std::size_t n) -> std::size_t {
    int size = 0;
    mpi_check("MPI_Pack_size", MPI_Pack_size(static_cast<int>(n), type, MPI_COMM_SELF, &size));
    return static_cast<std::size_t>(size);
}
/// How many elements are packed in one call, at least one. The same on ranks that pack an element alike.
[[nodiscard]] inline auto pack_run(MPI_Datatype type, std::size_t most = packed_most) -> std::size_t {
    constexpr std::size_t countable = std::numeric_limits<int>::max();
    return std::clamp<std::size_t>(most / std::max<std::size_t>(pack_size(type, 1), 1), 1, countable);
}

/// The most bytes that n elements take, `run` of them packed in one call.
[[nodiscard]] inline auto packed_bytes(MPI_Datatype type, std::size_t n, std::size_t run) -> std::size_t {
    auto const whole = n / run;
    return (whole == 0 ? 0 : whole * pack_size(type, run)) + pack_size(type, n % run);
}
/// Returns the number of bytes used.
template <class T>
auto pack(MPI_Datatype type, T const* values, std::size_t n, std::span<std::byte> to, std::size_t run)
    -> std::size_t {
    constexpr std::size_t countable = std::numeric_limits<int>::max();
    std::size_t used = 0;
    for (std::size_t i = 0; i < n; i += run) {
        auto const room = to.subspan(used);
        int position = 0;
        mpi_check("MPI_Pack",
                  MPI_Pack(values + i, static_cast<int>(std::min(run, n - i)), type, room.data(),
                           static_cast<int>(std::min(room.size(), countable)), &position, MPI_COMM_SELF));
        used += static_cast<std::size_t>(position);
    }
    return used;
}
/// Returns the number of bytes read.
template <class T>
auto unpack(MPI_Datatype type, std::span<std::byte const> from, T* values, std::size_t n, std::size_t run)
    -> std::size_t {
    constexpr std::size_t countable = std::numeric_limits<int>::max();
    std::size_t read = 0;
    for (std::size_t i = 0; i < n; i += run) {
        auto const rest = from.subspan(read);
        int position = 0;
        mpi_check("MPI_Unpack",
                  MPI_Unpack(rest.data(), static_cast<int>(std::min(rest.size(), countable)), &position,
                             values + i, static_cast<int>(std::min(run, n - i)), type, MPI_COMM_SELF));
        read += static_cast<std::size_t>(position);
    }
    return read;
}

} // namespace detail

template <detail::packed_type T>
struct native_datatype<T> {
    static auto get() -> MPI_Datatype {
        static auto const type = [] {
            std::lock_guard const lock(detail::boost_datatypes());
            return boost::mpi::get_mpi_datatype<T>();
        }();
        return type;
    }
};

/// Types with a Boost.MPI datatype that are more than their bytes travel packed by MPI. Needs Boost.MPI's
/// library, and MPI to be initialised.
template <detail::packed_type T>
struct wire_format<T> {
    static constexpr bool is_bytes = false;

    static auto bytes(std::size_t n) -> std::size_t { return detail::packed_bytes(type(), n, run()); }
    /// Returns the number of bytes used.
    static auto pack(T const* values, std::size_t n, std::span<std::byte> to) -> std::size_t {
        return detail::pack(type(), values, n, to, run());
    }
    /// Returns the number of bytes read.
    static auto unpack(std::span<std::byte const> from, T* values, std::size_t n) -> std::size_t {
        return detail::unpack(type(), from, values, n, run());
    }

private:
    static auto type() -> MPI_Datatype {
        static auto const& handle = *new detail::native_handle(detail::native_type<T>()); // MPI frees it
        return handle.get();
    }
    static auto run() -> std::size_t {
        static auto const elements = detail::pack_run(type());
        return elements;
    }
};

} // namespace papcoll::inline v0
