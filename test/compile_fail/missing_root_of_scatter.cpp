// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: the root is missing: an int, behind the data
#include <papcoll/core.hpp>

void call(MPI_Comm comm, double const* in, double* out) {
    papcoll::scatter(comm, in, out, 5, 0);
#ifdef PAPCOLL_MISTAKE
    papcoll::scatter(comm, in, out, 5);
#endif
}
