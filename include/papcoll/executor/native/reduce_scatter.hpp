// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/native/operation.hpp>
#include <papcoll/executor/native/operator.hpp>
#include <papcoll/executor/native/pieces.hpp>
#include <papcoll/operators/operators.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <span>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The buffers of a reduce-scatter on one rank, as MPI takes them.
template <class T>
class native_scatter {
public:
    native_scatter(MPI_Comm comm, T const* in, std::span<std::size_t const> sizes, T* out, std::size_t most)
        : m_in(in)
        , m_out(out)
        , m_rank(static_cast<std::size_t>(native_rank(comm)))
        , m_most(most) {
        if (native_fits(sizes, most)) m_sizes = native_ints(sizes);
    }

    /// Calls scatter(send, receive, sizes) as MPI_Reduce_scatter wants its arguments, or reduce(send,
    /// receive, k, root), in pieces, for each block when MPI cannot count them together.
    template <class Scatter, class Reduce>
    void for_each(std::span<std::size_t const> sizes, Scatter scatter, Reduce reduce) {
        bool const in_place = m_in == m_out;
        if (!m_sizes.empty()) {
            scatter(native_input(in_place, m_in), m_out, m_sizes.data());
            return;
        }
        std::size_t begin = 0;
        for (std::size_t r = 0; r < sizes.size(); ++r) {
            if (sizes[r] == 0) continue;
            // In place a block is reduced where it lies: its sum could otherwise cover operands.
            auto* const result = in_place ? m_out + begin : m_out;
            for_each_piece(
                r == m_rank, m_in + begin, result, sizes[r],
                [&](void const* send, void* receive, int k) {
                    reduce(send, receive, k, static_cast<int>(r));
                },
                m_most);
            if (r == m_rank) m_result = {result, sizes[r]};
            begin += sizes[r];
        }
    }
    /// Moves the result of single reductions to where the caller wants it.
    void complete() const {
        if (m_result.data() != m_out && !m_result.empty()) std::copy(m_result.begin(), m_result.end(), m_out);
    }

private:
    T const* m_in;
    T* m_out;
    std::size_t m_rank;
    std::size_t m_most;
    std::vector<int> m_sizes;    // empty when the blocks are reduced one by one
    std::span<T const> m_result; // where such a reduction leaves this rank's block
};

} // namespace detail

/// MPI_Ireduce_scatter on the user's communicator: of the blocks of sizes[0], sizes[1], ... elements of `in`
/// the one of the own rank, reduced over all ranks, in `out`. One size for each rank. In place where
/// in == out: the result begins at `out`, the rest of the blocks is unspecified then. More than `most`
/// elements in all are reduced block by block, in pieces. The sizes and `most` agree on all ranks, so does
/// whether it is in place.
template <class T, reduction_operator<T> Op>
class native_reduce_scatter_operation final : public detail::native_operation {
public:
    native_reduce_scatter_operation(MPI_Comm comm, T const* in, std::span<std::size_t const> sizes, T* out,
                                    Op op, std::size_t most = detail::native_most)
        : m_operator(std::move(op))
        , m_blocks(comm, in, sizes, out, most) {
        m_blocks.for_each(
            sizes,
            [&](void const* send, void* receive, int const* counts) {
                post("MPI_Ireduce_scatter", [&](MPI_Request* request) {
                    return MPI_Ireduce_scatter(send, receive, counts, m_operator.type(), m_operator.handle(),
                                               comm, request);
                });
            },
            [&](void const* send, void* receive, int k, int root) {
                post("MPI_Ireduce", [&](MPI_Request* request) {
                    return MPI_Ireduce(send, receive, k, m_operator.type(), m_operator.handle(), root, comm,
                                       request);
                });
            });
    }

    [[nodiscard]] auto failure() const -> std::exception_ptr override { return m_operator.failure(); }

private:
    void complete() override { m_blocks.complete(); }

    detail::native_operator<T, Op> m_operator;
    detail::native_scatter<T> m_blocks; // MPI reads its array until the end
};

/// MPI_Reduce_scatter itself, for calls that block. See native_reduce_scatter_operation, which it does not
/// match.
template <class T, reduction_operator<T> Op>
void native_reduce_scatter(MPI_Comm comm, T const* in, std::span<std::size_t const> sizes, T* out, Op op,
                           std::size_t most = detail::native_most) {
    detail::native_operator<T, Op> const native(std::move(op));
    detail::native_scatter<T> blocks(comm, in, sizes, out, most);
    blocks.for_each(
        sizes,
        [&](void const* send, void* receive, int const* counts) {
            detail::mpi_check("MPI_Reduce_scatter", MPI_Reduce_scatter(send, receive, counts, native.type(),
                                                                       native.handle(), comm));
        },
        [&](void const* send, void* receive, int k, int root) {
            detail::mpi_check("MPI_Reduce",
                              MPI_Reduce(send, receive, k, native.type(), native.handle(), root, comm));
        });
    blocks.complete();
    native.rethrow_failure();
}

} // namespace papcoll::inline v0
