// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/native/operation.hpp>
#include <papcoll/executor/native/pieces.hpp>

#include <mpi.h>

#include <cstddef>

namespace papcoll::inline v0 {

namespace detail {

/// Calls gather(send, k, element, receive, count, type) as MPI_Allgather wants its arguments.
template <class T, class Gather>
void for_each_all_gather(MPI_Comm comm, native_blocks<T>& blocks, T const* in, std::size_t n, T* out,
                         Gather gather) {
    bool const in_place = n > 0 && in == out + static_cast<std::size_t>(native_rank(comm)) * n;
    blocks.for_each([&](std::size_t begin, int k, int count, MPI_Datatype type) {
        gather(native_input(in_place, in + begin), k, blocks.element(), out + begin, count, type);
    });
}

} // namespace detail

/// MPI_Iallgather on the user's communicator: n elements of each rank, in rank order, in every rank's `out`.
/// In place where in == out + rank n. More than `most` elements in all go in several stripes. n, `most` and
/// whether it is in place agree on all ranks.
template <class T>
class native_all_gather_operation final : public detail::native_operation {
public:
    native_all_gather_operation(MPI_Comm comm, T const* in, std::size_t n, T* out,
                                std::size_t most = detail::native_most)
        : m_blocks(n, detail::native_size(comm), most) {
        detail::for_each_all_gather(comm, m_blocks, in, n, out, [&](auto... arguments) {
            post("MPI_Iallgather",
                 [&](MPI_Request* request) { return MPI_Iallgather(arguments..., comm, request); });
        });
    }

private:
    detail::native_blocks<T> m_blocks;
};

/// MPI_Allgather itself, for calls that block. See native_all_gather_operation, which it does not match.
template <class T>
void native_all_gather(MPI_Comm comm, T const* in, std::size_t n, T* out,
                       std::size_t most = detail::native_most) {
    detail::native_blocks<T> blocks(n, detail::native_size(comm), most);
    detail::for_each_all_gather(comm, blocks, in, n, out, [&](auto... arguments) {
        detail::mpi_check("MPI_Allgather", MPI_Allgather(arguments..., comm));
    });
}

} // namespace papcoll::inline v0
