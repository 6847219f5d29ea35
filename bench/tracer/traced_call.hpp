// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <mpi.h>

#include <cstdint>

#include "communicators.hpp"
#include "recorder.hpp"

namespace tracer {

/// Records, from its construction to its destruction, one call of a collective, unless it is made inside
/// another one (some MPI libraries' Fortran functions call the C ones), not sampled, on an intercommunicator,
/// or wrong.
class traced_call {
public:
    /// `bytes(communicator const&)` is asked only for calls that are recorded.
    template <class Bytes>
    traced_call(char const* operation, MPI_Comm comm, void const* site, Bytes bytes)
        : m_is_outermost(depth++ == 0) {
        auto& all = recorder::instance();
        if (!m_is_outermost || !all.is_active() || comm == MPI_COMM_NULL) return;
        auto& found = communicator_of(comm);
        if (found.is_left_out) return;
        auto const sequence = found.calls++;
        if (!all.is_sampled(sequence)) return;
        m_comm = &found;
        m_call = {operation, site, sequence, bytes(found), 0, 0};
        m_call.entry = all.clock().now();
    }
    traced_call(traced_call const&) = delete;
    auto operator=(traced_call const&) -> traced_call& = delete;
    ~traced_call() {
        --depth;
        if (m_comm == nullptr) return;
        auto& all = recorder::instance();
        m_call.exit = all.clock().now();
        all.add(*m_comm, m_call);
    }

private:
    static inline thread_local int depth = 0;

    bool m_is_outermost;
    communicator* m_comm = nullptr;
    call_record m_call;
};

/// The bytes of `count` elements; of what cannot be, 0: the MPI library will complain about the call.
inline auto bytes_of(int count, MPI_Datatype type) -> std::uint64_t {
    int size = 0;
    if (count <= 0 || type == MPI_DATATYPE_NULL) return 0;
    PMPI_Type_size(type, &size);
    return size <= 0 ? 0 : static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

/// The sum of the first n `counts`, in bytes.
inline auto bytes_of(int const* counts, int n, MPI_Datatype type) -> std::uint64_t {
    std::uint64_t sum = 0;
    auto const element = bytes_of(1, type);
    for (int i = 0; i < n; ++i)
        if (counts[i] > 0) sum += static_cast<std::uint64_t>(counts[i]) * element;
    return sum;
}

inline auto bytes_of(int const* counts, int n, MPI_Datatype const* types) -> std::uint64_t {
    std::uint64_t sum = 0;
    for (int i = 0; i < n; ++i) sum += bytes_of(counts[i], types[i]);
    return sum;
}

/// How many neighbours send to this rank in the communicator's topology; 0 without one.
inline auto in_degree(MPI_Comm comm) -> int {
    int topology = MPI_UNDEFINED;
    int degree = 0;
    PMPI_Topo_test(comm, &topology);
    if (topology == MPI_CART) {
        PMPI_Cartdim_get(comm, &degree);
        degree *= 2;
    } else if (topology == MPI_GRAPH) {
        int rank = 0;
        PMPI_Comm_rank(comm, &rank);
        PMPI_Graph_neighbors_count(comm, rank, &degree);
    } else if (topology == MPI_DIST_GRAPH) {
        int out_degree = 0;
        int is_weighted = 0;
        PMPI_Dist_graph_neighbors_count(comm, &degree, &out_degree, &is_weighted);
    }
    return degree;
}

} // namespace tracer
