// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// The collectives as C and C++ programs call them. README.md says what counts as the bytes of each.
#include "traced_call.hpp"

#define LIST(...) __VA_ARGS__

// Defines MPI_<Name> and MPI_I<name>. In `bytes`, `c` is the communicator.
#define TRACED(Name, name, bytes, parameters, arguments)                                                     \
    int MPI_##Name(parameters) {                                                                             \
        tracer::traced_call const call(                                                                      \
            #name, comm, __builtin_return_address(0),                                                        \
            [&]([[maybe_unused]] tracer::communicator const& c) { return bytes; });                          \
        return PMPI_##Name(arguments);                                                                       \
    }                                                                                                        \
    int MPI_I##name(parameters, MPI_Request* request) {                                                      \
        tracer::traced_call const call(                                                                      \
            "i" #name, comm, __builtin_return_address(0),                                                    \
            [&]([[maybe_unused]] tracer::communicator const& c) { return bytes; });                          \
        return PMPI_I##name(arguments, request);                                                             \
    }

using tracer::bytes_of;

extern "C" {

TRACED(Barrier, barrier, std::uint64_t{0}, LIST(MPI_Comm comm), LIST(comm))

TRACED(Bcast, bcast, bytes_of(count, type),
       LIST(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
       LIST(buffer, count, type, root, comm))

TRACED(Gather, gather, c.rank == root ? bytes_of(in_count, in_type) : bytes_of(out_count, out_type),
       LIST(void const* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
            MPI_Datatype in_type, int root, MPI_Comm comm),
       LIST(out, out_count, out_type, in, in_count, in_type, root, comm))

TRACED(Gatherv, gatherv, c.rank == root ? bytes_of(in_counts[root], in_type) : bytes_of(out_count, out_type),
       LIST(void const* out, int out_count, MPI_Datatype out_type, void* in, int const* in_counts,
            int const* in_at, MPI_Datatype in_type, int root, MPI_Comm comm),
       LIST(out, out_count, out_type, in, in_counts, in_at, in_type, root, comm))

TRACED(Scatter, scatter, c.rank == root ? bytes_of(out_count, out_type) : bytes_of(in_count, in_type),
       LIST(void const* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
            MPI_Datatype in_type, int root, MPI_Comm comm),
       LIST(out, out_count, out_type, in, in_count, in_type, root, comm))

TRACED(Scatterv, scatterv,
       c.rank == root ? bytes_of(out_counts[root], out_type) : bytes_of(in_count, in_type),
       LIST(void const* out, int const* out_counts, int const* out_at, MPI_Datatype out_type, void* in,
            int in_count, MPI_Datatype in_type, int root, MPI_Comm comm),
       LIST(out, out_counts, out_at, out_type, in, in_count, in_type, root, comm))

TRACED(Allgather, allgather, bytes_of(in_count, in_type),
       LIST(void const* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
            MPI_Datatype in_type, MPI_Comm comm),
       LIST(out, out_count, out_type, in, in_count, in_type, comm))

TRACED(Allgatherv, allgatherv, bytes_of(in_counts, c.size, in_type),
       LIST(void const* out, int out_count, MPI_Datatype out_type, void* in, int const* in_counts,
            int const* in_at, MPI_Datatype in_type, MPI_Comm comm),
       LIST(out, out_count, out_type, in, in_counts, in_at, in_type, comm))

TRACED(Alltoall, alltoall, bytes_of(in_count, in_type),
       LIST(void const* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
            MPI_Datatype in_type, MPI_Comm comm),
       LIST(out, out_count, out_type, in, in_count, in_type, comm))

TRACED(Alltoallv, alltoallv, bytes_of(in_counts, c.size, in_type),
       LIST(void const* out, int const* out_counts, int const* out_at, MPI_Datatype out_type, void* in,
            int const* in_counts, int const* in_at, MPI_Datatype in_type, MPI_Comm comm),
       LIST(out, out_counts, out_at, out_type, in, in_counts, in_at, in_type, comm))

TRACED(Alltoallw, alltoallw, bytes_of(in_counts, c.size, in_types),
       LIST(void const* out, int const* out_counts, int const* out_at, MPI_Datatype const* out_types,
            void* in, int const* in_counts, int const* in_at, MPI_Datatype const* in_types, MPI_Comm comm),
       LIST(out, out_counts, out_at, out_types, in, in_counts, in_at, in_types, comm))

TRACED(Reduce, reduce, bytes_of(count, type),
       LIST(void const* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
       LIST(in, out, count, type, op, root, comm))

TRACED(Allreduce, allreduce, bytes_of(count, type),
       LIST(void const* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
       LIST(in, out, count, type, op, comm))

TRACED(Reduce_scatter, reduce_scatter, bytes_of(counts, c.size, type),
       LIST(void const* in, void* out, int const* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
       LIST(in, out, counts, type, op, comm))

TRACED(Reduce_scatter_block, reduce_scatter_block, bytes_of(count, type) * static_cast<std::uint64_t>(c.size),
       LIST(void const* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
       LIST(in, out, count, type, op, comm))

TRACED(Scan, scan, bytes_of(count, type),
       LIST(void const* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
       LIST(in, out, count, type, op, comm))

TRACED(Exscan, exscan, bytes_of(count, type),
       LIST(void const* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
       LIST(in, out, count, type, op, comm))

TRACED(Neighbor_allgather, neighbor_allgather, bytes_of(in_count, in_type),
       LIST(void const* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
            MPI_Datatype in_type, MPI_Comm comm),
       LIST(out, out_count, out_type, in, in_count, in_type, comm))

TRACED(Neighbor_allgatherv, neighbor_allgatherv, bytes_of(in_counts, tracer::in_degree(comm), in_type),
       LIST(void const* out, int out_count, MPI_Datatype out_type, void* in, int const* in_counts,
            int const* in_at, MPI_Datatype in_type, MPI_Comm comm),
       LIST(out, out_count, out_type, in, in_counts, in_at, in_type, comm))

TRACED(Neighbor_alltoall, neighbor_alltoall, bytes_of(in_count, in_type),
       LIST(void const* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
            MPI_Datatype in_type, MPI_Comm comm),
       LIST(out, out_count, out_type, in, in_count, in_type, comm))

TRACED(Neighbor_alltoallv, neighbor_alltoallv, bytes_of(in_counts, tracer::in_degree(comm), in_type),
       LIST(void const* out, int const* out_counts, int const* out_at, MPI_Datatype out_type, void* in,
            int const* in_counts, int const* in_at, MPI_Datatype in_type, MPI_Comm comm),
       LIST(out, out_counts, out_at, out_type, in, in_counts, in_at, in_type, comm))

TRACED(Neighbor_alltoallw, neighbor_alltoallw, bytes_of(in_counts, tracer::in_degree(comm), in_types),
       LIST(void const* out, int const* out_counts, MPI_Aint const* out_at, MPI_Datatype const* out_types,
            void* in, int const* in_counts, MPI_Aint const* in_at, MPI_Datatype const* in_types,
            MPI_Comm comm),
       LIST(out, out_counts, out_at, out_types, in, in_counts, in_at, in_types, comm))

} // extern "C"
