// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/transport/mpi_error.hpp>

#include <mpi.h>

#include <complex>
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

/// MPI's own datatypes of C++ types.
template <class T>
inline constexpr bool is_mpi_type = false;
template <class T>
[[nodiscard]] auto mpi_type() -> MPI_Datatype;

#define PAPCOLL_MPI_TYPE(type, handle)                                                                       \
    template <>                                                                                              \
    inline constexpr bool is_mpi_type<type> = true;                                                          \
    template <>                                                                                              \
    [[nodiscard]] inline auto mpi_type<type>()->MPI_Datatype {                                               \
        return handle;                                                                                       \
    }
PAPCOLL_MPI_TYPE(char, MPI_CHAR)
PAPCOLL_MPI_TYPE(signed char, MPI_SIGNED_CHAR)
PAPCOLL_MPI_TYPE(unsigned char, MPI_UNSIGNED_CHAR)
PAPCOLL_MPI_TYPE(wchar_t, MPI_WCHAR)
PAPCOLL_MPI_TYPE(short, MPI_SHORT)
PAPCOLL_MPI_TYPE(unsigned short, MPI_UNSIGNED_SHORT)
PAPCOLL_MPI_TYPE(int, MPI_INT)
PAPCOLL_MPI_TYPE(unsigned, MPI_UNSIGNED)
PAPCOLL_MPI_TYPE(long, MPI_LONG)
PAPCOLL_MPI_TYPE(unsigned long, MPI_UNSIGNED_LONG)
PAPCOLL_MPI_TYPE(long long, MPI_LONG_LONG)
PAPCOLL_MPI_TYPE(unsigned long long, MPI_UNSIGNED_LONG_LONG)
PAPCOLL_MPI_TYPE(bool, MPI_CXX_BOOL)
PAPCOLL_MPI_TYPE(std::complex<float>, MPI_C_FLOAT_COMPLEX)
PAPCOLL_MPI_TYPE(std::complex<double>, MPI_C_DOUBLE_COMPLEX)
PAPCOLL_MPI_TYPE(std::complex<long double>, MPI_C_LONG_DOUBLE_COMPLEX)
PAPCOLL_MPI_TYPE(float, MPI_FLOAT)
PAPCOLL_MPI_TYPE(double, MPI_DOUBLE)
PAPCOLL_MPI_TYPE(long double, MPI_LONG_DOUBLE)
#undef PAPCOLL_MPI_TYPE

template <class T>
concept has_native_type = std::is_trivially_copyable_v<T> || requires {
    native_datatype<T>::get();
};

/// The MPI datatype of T: MPI's own where there is one, else native_datatype's, else the bytes of T.
template <has_native_type T>
[[nodiscard]] auto native_type() -> native_handle {
    if constexpr (is_mpi_type<T>) {
        return native_handle::borrowed(mpi_type<T>());
    } else if constexpr (requires { native_datatype<T>::get(); }) {
        // Members that are not part of the datatype leave its extent short of the distance in an array.
        return native_handle::resized(native_datatype<T>::get(), sizeof(T)).committed();
    } else {
        return native_handle::contiguous(static_cast<int>(sizeof(T)), MPI_BYTE).committed();
    }
}

} // namespace detail

} // namespace papcoll::inline v0
