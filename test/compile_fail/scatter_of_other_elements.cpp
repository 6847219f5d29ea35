// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: .out. must have elements of the same type as .in.
#include <papcoll/core.hpp>

void call(MPI_Comm comm, double const* in, double* out, [[maybe_unused]] float* other) {
    papcoll::scatter(comm, in, out, 5, 0);
#ifdef PAPCOLL_MISTAKE
    papcoll::scatter(comm, in, other, 5, 0);
#endif
}
