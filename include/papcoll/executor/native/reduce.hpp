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

/// MPI_Ireduce on the user's communicator; counts beyond INT_MAX in several pieces.
template <class T, reduction_operator<T> Op>
class native_reduce_operation final : public detail::native_operation {
public:
    /// `out` counts at the root alone, where it may equal `in`.
    native_reduce_operation(MPI_Comm comm, T const* in, T* out, std::size_t count, Op op, int root,
                            std::size_t most = detail::native_most)
        : m_operator(std::move(op)) {
        detail::for_each_piece(
            detail::native_rank(comm) == root, in, out, count,
            [&](void const* send, void* receive, int n) {
                post("MPI_Ireduce", [&](MPI_Request* request) {
                    return MPI_Ireduce(send, receive, n, m_operator.type(), m_operator.handle(), root, comm,
                                       request);
                });
            },
            most);
    }

    [[nodiscard]] auto failure() const -> std::exception_ptr override { return m_operator.failure(); }

private:
    detail::native_operator<T, Op> m_operator;
};

/// MPI_Reduce itself, for calls that block: the library's tuned algorithms serve it alone.
template <class T, reduction_operator<T> Op>
void native_reduce(MPI_Comm comm, T const* in, T* out, std::size_t count, Op op, int root,
                   std::size_t most = detail::native_most) {
    detail::native_operator<T, Op> const native(std::move(op));
    detail::for_each_piece(
        detail::native_rank(comm) == root, in, out, count,
        [&](void const* send, void* receive, int n) {
            detail::mpi_check("MPI_Reduce",
                              MPI_Reduce(send, receive, n, native.type(), native.handle(), root, comm));
        },
        most);
    native.rethrow_failure();
}

} // namespace papcoll::inline v0
