// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/native/operation.hpp>
#include <papcoll/executor/native/pieces.hpp>

#include <mpi.h>

#include <cstddef>

namespace papcoll::inline v0 {

namespace detail {

/// Calls exchange(send, count, type, receive, count, type) as MPI_Alltoall wants its arguments.
template <class T, class Exchange>
void for_each_exchange(native_blocks<T>& blocks, T const* in, std::size_t n, T* out, Exchange exchange) {
    // Ranks without elements must not disagree because their pointers are null.
    bool const in_place = n > 0 && in == out;
    blocks.for_each([&](std::size_t begin, int, int count, MPI_Datatype type) {
        exchange(native_input(in_place, in + begin), count, type, out + begin, count, type);
    });
}

} // namespace detail

/// MPI_Ialltoall on the user's communicator: rank r's j-th block of n elements becomes rank j's r-th. In
/// place where in == out. More than `most` elements in all go in several stripes. n, `most` and whether it is
/// in place agree on all ranks.
template <class T>
class native_all_to_all_operation final : public detail::native_operation {
public:
    native_all_to_all_operation(MPI_Comm comm, T const* in, std::size_t n, T* out,
                                std::size_t most = detail::native_most)
        : m_blocks(n, detail::native_size(comm), most) {
        detail::for_each_exchange(m_blocks, in, n, out, [&](auto... arguments) {
            post("MPI_Ialltoall",
                 [&](MPI_Request* request) { return MPI_Ialltoall(arguments..., comm, request); });
        });
    }

private:
    detail::native_blocks<T> m_blocks;
};

/// MPI_Alltoall itself, for calls that block. See native_all_to_all_operation, which it does not match.
template <class T>
void native_all_to_all(MPI_Comm comm, T const* in, std::size_t n, T* out,
                       std::size_t most = detail::native_most) {
    detail::native_blocks<T> blocks(n, detail::native_size(comm), most);
    detail::for_each_exchange(blocks, in, n, out, [&](auto... arguments) {
        detail::mpi_check("MPI_Alltoall", MPI_Alltoall(arguments..., comm));
    });
}

} // namespace papcoll::inline v0
