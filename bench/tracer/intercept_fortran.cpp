// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// The collectives as Fortran programs call them; intercept_c.cpp in Fortran.
#include "fortran.hpp"
#include "traced_call.hpp"

#define DEFINE(symbol, label, communicator_argument, bytes, parameters, arguments)                           \
    __attribute__((weak)) void p##symbol(parameters);                                                        \
    PAPCOLL_FORTRAN void symbol(parameters) {                                                                \
        tracer::traced_call const call(                                                                      \
            label, comm(communicator_argument), __builtin_return_address(0),                                 \
            [&]([[maybe_unused]] tracer::communicator const& c) { return bytes; });                          \
        p##symbol(arguments);                                                                                \
    }

#define LIST(...) __VA_ARGS__

// `count` arguments before the error code or, if nonblocking, before the request and the error code.
#define TRACED(name, count, communicator_argument, bytes)                                                    \
    DEFINE(mpi_##name##_, #name, communicator_argument, bytes, LIST(P##count, void* error),                  \
           LIST(A##count, error))                                                                            \
    DEFINE(mpi_##name##_f08_, #name, communicator_argument, bytes, LIST(P##count, void* error),              \
           LIST(A##count, error))                                                                            \
    DEFINE(mpi_i##name##_, "i" #name, communicator_argument, bytes,                                          \
           LIST(P##count, void* request, void* error), LIST(A##count, request, error))                       \
    DEFINE(mpi_i##name##_f08_, "i" #name, communicator_argument, bytes,                                      \
           LIST(P##count, void* request, void* error), LIST(A##count, request, error))

using namespace tracer::fortran;
using tracer::bytes_of;

namespace {

auto block(void const* count, void const* datatype) -> std::uint64_t {
    return bytes_of(integer(count), type(datatype));
}

/// The i-th of an array of counts.
auto block(void const* counts, int i, void const* datatype) -> std::uint64_t {
    return bytes_of(integers(counts)[i], type(datatype));
}

auto sum(void const* counts, int n, void const* datatype) -> std::uint64_t {
    return bytes_of(integers(counts), n, type(datatype));
}

auto sum_of_types(void const* counts, int n, void const* datatypes) -> std::uint64_t {
    std::uint64_t all = 0;
    for (int i = 0; i < n; ++i) all += block(counts, i, static_cast<MPI_Fint const*>(datatypes) + i);
    return all;
}

auto degree(void const* communicator) -> int { return tracer::in_degree(comm(communicator)); }

} // namespace

extern "C" {

TRACED(barrier, 1, a1, std::uint64_t{0})
TRACED(bcast, 5, a5, block(a2, a3))
TRACED(gather, 8, a8, c.rank == integer(a7) ? block(a5, a6) : block(a2, a3))
TRACED(gatherv, 9, a9, c.rank == integer(a8) ? block(a5, c.rank, a7) : block(a2, a3))
TRACED(scatter, 8, a8, c.rank == integer(a7) ? block(a2, a3) : block(a5, a6))
TRACED(scatterv, 9, a9, c.rank == integer(a8) ? block(a2, c.rank, a4) : block(a6, a7))
TRACED(allgather, 7, a7, block(a5, a6))
TRACED(allgatherv, 8, a8, sum(a5, c.size, a7))
TRACED(alltoall, 7, a7, block(a5, a6))
TRACED(alltoallv, 9, a9, sum(a6, c.size, a8))
TRACED(alltoallw, 9, a9, sum_of_types(a6, c.size, a8))
TRACED(reduce, 7, a7, block(a3, a4))
TRACED(allreduce, 6, a6, block(a3, a4))
TRACED(reduce_scatter, 6, a6, sum(a3, c.size, a4))
TRACED(reduce_scatter_block, 6, a6, block(a3, a4) * static_cast<std::uint64_t>(c.size))
TRACED(scan, 6, a6, block(a3, a4))
TRACED(exscan, 6, a6, block(a3, a4))
TRACED(neighbor_allgather, 7, a7, block(a5, a6))
TRACED(neighbor_allgatherv, 8, a8, sum(a5, degree(a8), a7))
TRACED(neighbor_alltoall, 7, a7, block(a5, a6))
TRACED(neighbor_alltoallv, 9, a9, sum(a6, degree(a9), a8))
TRACED(neighbor_alltoallw, 9, a9, sum_of_types(a6, degree(a9), a8))

} // extern "C"
