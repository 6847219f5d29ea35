// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: must be commutative; if it is, wrap it: papcoll::commutative
#include <papcoll/core.hpp>

void call(MPI_Comm comm, double const* in, double* out) {
    auto const op = [](double a, double b) { return a - b; };
    papcoll::all_reduce(comm, in, 5, out, papcoll::commutative(op), papcoll::circulant{});
    papcoll::all_reduce(comm, in, 5, out, op, papcoll::native{});
#ifdef PAPCOLL_MISTAKE
    papcoll::all_reduce(comm, in, 5, out, op, papcoll::circulant{});
#endif
}
