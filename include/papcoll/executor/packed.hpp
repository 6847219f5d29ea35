// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/buffers.hpp>
#include <papcoll/executor/native.hpp>
#include <papcoll/transport/mpi_error.hpp>

#include <boost/mpi/datatype.hpp>
#include <mpi.h>

#include <cstddef>
#include <limits>
#include <span>
#include <stdexcept>

namespace papcoll::inline v0 {

namespace detail {

template <class T>
concept packed_type = !byte_copyable<T> && boost::mpi::is_mpi_datatype<T>::value;

} // namespace detail

/// Types with a Boost.MPI datatype that are more than their bytes travel packed by MPI. Needs Boost.MPI's
/// library, and MPI to be initialised.
template <detail::packed_type T>
struct wire_format<T> {
    static constexpr bool is_bytes = false;

    static auto bytes(std::size_t n) -> std::size_t {
        int size = 0;
        detail::mpi_check("MPI_Pack_size", MPI_Pack_size(checked(n), type(), MPI_COMM_SELF, &size));
        return static_cast<std::size_t>(size);
    }
    /// Returns the number of bytes used.
    static auto pack(T const* values, std::size_t n, std::span<std::byte> to) -> std::size_t {
        int position = 0;
        detail::mpi_check("MPI_Pack", MPI_Pack(values, checked(n), type(), to.data(), checked(to.size()),
                                               &position, MPI_COMM_SELF));
        return static_cast<std::size_t>(position);
    }
    /// Returns the number of bytes read.
    static auto unpack(std::span<std::byte const> from, T* values, std::size_t n) -> std::size_t {
        int position = 0;
        detail::mpi_check("MPI_Unpack", MPI_Unpack(from.data(), checked(from.size()), &position, values,
                                                   checked(n), type(), MPI_COMM_SELF));
        return static_cast<std::size_t>(position);
    }

private:
    static auto type() -> MPI_Datatype { return boost::mpi::get_mpi_datatype<T>(); }
    static auto checked(std::size_t n) -> int {
        if (n > static_cast<std::size_t>(std::numeric_limits<int>::max()))
            throw std::length_error(
                "papcoll: a block of a packed type is too long for MPI; use more segments");
        return static_cast<int>(n);
    }
};

template <detail::packed_type T>
struct native_datatype<T> {
    static auto get() -> MPI_Datatype { return boost::mpi::get_mpi_datatype<T>(); }
};

} // namespace papcoll::inline v0
