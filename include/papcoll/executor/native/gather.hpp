// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/native/operation.hpp>
#include <papcoll/executor/native/pieces.hpp>

#include <mpi.h>

#include <cstddef>

namespace papcoll::inline v0 {

namespace detail {

/// Calls gather(send, k, element, receive, count, type) as MPI_Gather wants its arguments.
template <class T, class Gather>
void for_each_gather(MPI_Comm comm, native_blocks<T>& blocks, T const* in, std::size_t n, T* out, int root,
                     Gather gather) {
    bool const is_root = native_rank(comm) == root;
    bool const in_place = is_root && in == out + static_cast<std::size_t>(root) * n;
    blocks.for_each([&](std::size_t begin, int k, int count, MPI_Datatype type) {
        gather(native_input(in_place, in + begin), k, blocks.element(), is_root ? out + begin : nullptr,
               count, type);
    });
}

} // namespace detail

/// MPI_Igather on the user's communicator: n elements of each rank, in rank order, in the root's `out`, which
/// counts there alone. In place where in == out + root n at the root. More than `most` elements in all go in
/// several stripes. n, root and `most` agree on all ranks.
template <class T>
class native_gather_operation final : public detail::native_operation {
public:
    native_gather_operation(MPI_Comm comm, T const* in, std::size_t n, T* out, int root,
                            std::size_t most = detail::native_most)
        : m_blocks(n, detail::native_size(comm), most) {
        detail::for_each_gather(comm, m_blocks, in, n, out, root, [&](auto... arguments) {
            post("MPI_Igather",
                 [&](MPI_Request* request) { return MPI_Igather(arguments..., root, comm, request); });
        });
    }

private:
    detail::native_blocks<T> m_blocks;
};

/// MPI_Gather itself, for calls that block. See native_gather_operation, which it does not match.
template <class T>
void native_gather(MPI_Comm comm, T const* in, std::size_t n, T* out, int root,
                   std::size_t most = detail::native_most) {
    detail::native_blocks<T> blocks(n, detail::native_size(comm), most);
    detail::for_each_gather(comm, blocks, in, n, out, root, [&](auto... arguments) {
        detail::mpi_check("MPI_Gather", MPI_Gather(arguments..., root, comm));
    });
}

} // namespace papcoll::inline v0
