// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/native/datatype.hpp>
#include <papcoll/executor/native/operation.hpp>
#include <papcoll/executor/native/pieces.hpp>

#include <mpi.h>

#include <cstddef>

namespace papcoll::inline v0 {

/// MPI_Ibcast on the user's communicator; counts beyond `most` in several pieces. n, root and `most` agree on
/// all ranks.
template <class T>
class native_broadcast_operation final : public detail::native_operation {
public:
    native_broadcast_operation(MPI_Comm comm, T* values, std::size_t n, int root,
                               std::size_t most = detail::native_most)
        : m_type(detail::native_type<T>()) {
        detail::for_each_part(
            n,
            [&](std::size_t begin, int k) {
                post("MPI_Ibcast", [&](MPI_Request* request) {
                    return MPI_Ibcast(values + begin, k, m_type.get(), root, comm, request);
                });
            },
            most);
    }

private:
    detail::native_handle m_type;
};

/// MPI_Bcast itself, for calls that block. See native_broadcast_operation, which it does not match.
template <class T>
void native_broadcast(MPI_Comm comm, T* values, std::size_t n, int root,
                      std::size_t most = detail::native_most) {
    auto const type = detail::native_type<T>();
    detail::for_each_part(
        n,
        [&](std::size_t begin, int k) {
            detail::mpi_check("MPI_Bcast", MPI_Bcast(values + begin, k, type.get(), root, comm));
        },
        most);
}

} // namespace papcoll::inline v0
