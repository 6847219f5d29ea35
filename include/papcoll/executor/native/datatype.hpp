// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/transport/mpi_error.hpp>

#include <boost/mpi/datatype.hpp>
#include <mpi.h>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace papcoll::inline v0 {

/// The MPI datatype that `native` collectives use for a type that MPI does not know; by default its bytes. A
/// specialisation gives `static auto get() -> MPI_Datatype`, which stays its own.
template <class T>
struct native_datatype {};

namespace detail {

/// An MPI datatype, freed at the end of its scope unless it is borrowed.
class native_handle {
public:
    native_handle() = default;
    native_handle(native_handle&& other) noexcept
        : m_type(std::exchange(other.m_type, MPI_DATATYPE_NULL))
        , m_owned(std::exchange(other.m_owned, false)) {}
    auto operator=(native_handle&& other) noexcept -> native_handle& {
        std::swap(m_type, other.m_type);
        std::swap(m_owned, other.m_owned);
        return *this;
    }
    ~native_handle() {
        if (m_owned) MPI_Type_free(&m_type);
    }

    [[nodiscard]] static auto borrowed(MPI_Datatype type) -> native_handle { return {type, false}; }
    [[nodiscard]] static auto duplicate(native_handle const& other) -> native_handle {
        MPI_Datatype type = MPI_DATATYPE_NULL;
        mpi_check("MPI_Type_dup", MPI_Type_dup(other.get(), &type));
        return {type, true};
    }
    [[nodiscard]] static auto contiguous(int count, MPI_Datatype element) -> native_handle {
        MPI_Datatype type = MPI_DATATYPE_NULL;
        mpi_check("MPI_Type_contiguous", MPI_Type_contiguous(count, element, &type));
        return {type, true};
    }
    /// The same, such that one follows another at a distance of `extent` bytes.
    [[nodiscard]] static auto resized(MPI_Datatype original, std::size_t extent) -> native_handle {
        MPI_Datatype type = MPI_DATATYPE_NULL;
        mpi_check("MPI_Type_create_resized",
                  MPI_Type_create_resized(original, 0, static_cast<MPI_Aint>(extent), &type));
        return {type, true};
    }
    [[nodiscard]] auto committed() && -> native_handle {
        mpi_check("MPI_Type_commit", MPI_Type_commit(&m_type));
        return std::move(*this);
    }

    [[nodiscard]] auto get() const -> MPI_Datatype { return m_type; }

private:
    native_handle(MPI_Datatype type, bool owned)
        : m_type(type)
        , m_owned(owned) {}

    MPI_Datatype m_type = MPI_DATATYPE_NULL;
    bool m_owned = false;
};

/// The MPI datatype of T: MPI's own where there is one, else native_datatype's, else the bytes of T.
template <class T>
[[nodiscard]] auto native_type() -> native_handle {
    if constexpr (boost::mpi::is_mpi_builtin_datatype<T>::value) {
        return native_handle::borrowed(boost::mpi::get_mpi_datatype<T>());
    } else if constexpr (requires { native_datatype<T>::get(); }) {
        // Members that are not part of the datatype leave its extent short of the distance in an array.
        return native_handle::resized(native_datatype<T>::get(), sizeof(T)).committed();
    } else {
        static_assert(std::is_trivially_copyable_v<T>,
                      "papcoll: this type needs a Boost.MPI datatype; include papcoll/papcoll.hpp");
        return native_handle::contiguous(static_cast<int>(sizeof(T)), MPI_BYTE).committed();
    }
}

} // namespace detail

} // namespace papcoll::inline v0
