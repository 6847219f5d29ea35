// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// Fortran programs call mpi_<name>_ (mpif.h, module mpi) or mpi_<name>_f08_ (module mpi_f08) with the
// addresses of all arguments. Open MPI's and MPICH's versions do their work by PMPI functions, which nobody
// can intercept, so these functions are intercepted themselves. The real ones are in libraries that a C
// program does not load: hence weak.
#pragma once

#include <mpi.h>

#define PAPCOLL_FORTRAN __attribute__((visibility("default")))

// The first n arguments, as parameters and as arguments.
#define P1 void* a1
#define P2 P1, void* a2
#define P3 P2, void* a3
#define P4 P3, void* a4
#define P5 P4, void* a5
#define P6 P5, void* a6
#define P7 P6, void* a7
#define P8 P7, void* a8
#define P9 P8, void* a9
#define P10 P9, void* a10
#define A1 a1
#define A2 A1, a2
#define A3 A2, a3
#define A4 A3, a4
#define A5 A4, a5
#define A6 A5, a6
#define A7 A6, a7
#define A8 A7, a8
#define A9 A8, a9
#define A10 A9, a10

namespace tracer::fortran {

inline auto integers(void const* argument) -> int const* { return static_cast<int const*>(argument); }
inline auto integer(void const* argument) -> int { return *integers(argument); }
inline auto comm(void const* argument) -> MPI_Comm {
    return PMPI_Comm_f2c(*static_cast<MPI_Fint const*>(argument));
}
inline auto type(void const* argument) -> MPI_Datatype {
    return PMPI_Type_f2c(*static_cast<MPI_Fint const*>(argument));
}

} // namespace tracer::fortran
