// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/native/operation.hpp>
#include <papcoll/executor/native/operator.hpp>
#include <papcoll/executor/native/pieces.hpp>
#include <papcoll/operators/operators.hpp>

#include <mpi.h>

#include <cstddef>
#include <exception>
#include <utility>

namespace papcoll::inline v0 {

/// MPI_Iallreduce on the user's communicator; counts beyond `most` in several pieces. n, `most` and whether
/// in == out, in place, agree on all ranks. Whether the result has the same bits everywhere is the MPI
/// library's choice.
template <class T, reduction_operator<T> Op>
class native_all_reduce_operation final : public detail::native_operation {
public:
    native_all_reduce_operation(MPI_Comm comm, T const* in, std::size_t n, T* out, Op op,
                                std::size_t most = detail::native_most)
        : m_operator(std::move(op)) {
        detail::for_each_piece(
            true, in, out, n,
            [&](void const* send, void* receive, int k) {
                post("MPI_Iallreduce", [&](MPI_Request* request) {
                    return MPI_Iallreduce(send, receive, k, m_operator.type(), m_operator.handle(), comm,
                                          request);
                });
            },
            most);
    }

    [[nodiscard]] auto failure() const -> std::exception_ptr override { return m_operator.failure(); }

private:
    detail::native_operator<T, Op> m_operator;
};

/// MPI_Allreduce itself, for calls that block. See native_all_reduce_operation, which it does not match.
template <class T, reduction_operator<T> Op>
void native_all_reduce(MPI_Comm comm, T const* in, std::size_t n, T* out, Op op,
                       std::size_t most = detail::native_most) {
    detail::native_operator<T, Op> const native(std::move(op));
    detail::for_each_piece(
        true, in, out, n,
        [&](void const* send, void* receive, int k) {
            detail::mpi_check("MPI_Allreduce",
                              MPI_Allreduce(send, receive, k, native.type(), native.handle(), comm));
        },
        most);
    native.rethrow_failure();
}

} // namespace papcoll::inline v0
