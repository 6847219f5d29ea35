// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// Beginning, end and the creation of communicators as Fortran programs call them; control.cpp and
// intercept_creation.cpp in Fortran.
#include "communicators.hpp"
#include "control.hpp"
#include "fortran.hpp"
#include "recorder.hpp"

#define LIST(...) __VA_ARGS__

// The error code is optional in module mpi_f08.
#define DEFINE(symbol, parameters, arguments, before, after)                                                 \
    __attribute__((weak)) void p##symbol(parameters, MPI_Fint* error);                                       \
    PAPCOLL_FORTRAN void symbol(parameters, MPI_Fint* error) {                                               \
        MPI_Fint result = MPI_SUCCESS;                                                                       \
        before;                                                                                              \
        p##symbol(arguments, &result);                                                                       \
        if (result == MPI_SUCCESS) after;                                                                    \
        if (error != nullptr) *error = result;                                                               \
    }

// The same for both kinds of modules; `count` arguments before the error code.
#define BOTH(name, count, before, after)                                                                     \
    DEFINE(mpi_##name##_, P##count, A##count, before, after)                                                 \
    DEFINE(mpi_##name##_f08_, P##count, A##count, before, after)

#define CREATES(name, count, child) BOTH(name, count, tracer::creation const now, created(a1, child))

using namespace tracer::fortran;

namespace {

void created(void const* parent, void const* child) {
    if (tracer::recorder::instance().is_active()) tracer::child_created(comm(parent), comm(child));
}

void created_of_group(void const* parent, void const* tag, void const* child) {
    if (tracer::recorder::instance().is_active())
        tracer::child_of_group_created(comm(parent), integer(tag), comm(child));
}

} // namespace

extern "C" {

__attribute__((weak)) void pmpi_init_(MPI_Fint* error);
PAPCOLL_FORTRAN void mpi_init_(MPI_Fint* error) {
    pmpi_init_(error);
    if (*error == MPI_SUCCESS) tracer::begin();
}

__attribute__((weak)) void pmpi_init_f08_(MPI_Fint* error);
PAPCOLL_FORTRAN void mpi_init_f08_(MPI_Fint* error) {
    MPI_Fint result = MPI_SUCCESS;
    pmpi_init_f08_(&result);
    if (result == MPI_SUCCESS) tracer::begin();
    if (error != nullptr) *error = result;
}

__attribute__((weak)) void pmpi_finalize_(MPI_Fint* error);
PAPCOLL_FORTRAN void mpi_finalize_(MPI_Fint* error) {
    tracer::end();
    pmpi_finalize_(error);
}

__attribute__((weak)) void pmpi_finalize_f08_(MPI_Fint* error);
PAPCOLL_FORTRAN void mpi_finalize_f08_(MPI_Fint* error) {
    tracer::end();
    pmpi_finalize_f08_(error);
}

BOTH(init_thread, 2, static_cast<void>(0), tracer::begin())
BOTH(abort, 2, tracer::interrupt(), static_cast<void>(0))

CREATES(comm_split, 4, a4)
CREATES(comm_split_type, 5, a5)
CREATES(comm_create, 3, a3)
CREATES(cart_create, 6, a6)
CREATES(cart_sub, 3, a3)
CREATES(graph_create, 6, a6)
CREATES(dist_graph_create, 9, a9)
CREATES(dist_graph_create_adjacent, 10, a10)
BOTH(comm_create_group, 4, tracer::creation const now, created_of_group(a1, a3, a4))

} // extern "C"
