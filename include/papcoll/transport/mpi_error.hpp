// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <mpi.h>

#include <stdexcept>
#include <string>

namespace papcoll::inline v0 {

/// A routine of the MPI library failed, and returned this code.
class mpi_error : public std::runtime_error {
public:
    mpi_error(char const* routine, int code)
        : std::runtime_error("papcoll: " + std::string(routine) + " failed: " + text(code))
        , m_routine(routine)
        , m_error_class(class_of(code)) {}

    /// The routine of MPI's that failed.
    [[nodiscard]] auto routine() const noexcept -> char const* { return m_routine; }
    /// The number of the error class that MPI gives for the code, such as MPI_ERR_COMM.
    [[nodiscard]] auto error_class() const noexcept -> int { return m_error_class; }

private:
    static auto class_of(int code) -> int {
        int result = MPI_ERR_UNKNOWN;
        MPI_Error_class(code, &result);
        return result;
    }
    static auto text(int code) -> std::string {
        std::string result(MPI_MAX_ERROR_STRING, '\0');
        int length = 0;
        MPI_Error_string(code, result.data(), &length);
        result.resize(static_cast<std::size_t>(length));
        return result;
    }

    char const* m_routine;
    int m_error_class;
};

namespace detail {

inline void mpi_check(char const* routine, int code) {
    if (code != MPI_SUCCESS) throw mpi_error(routine, code);
}

} // namespace detail

} // namespace papcoll::inline v0
