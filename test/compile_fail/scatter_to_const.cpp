// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: the result is written to .out.; it must not be const
#include <papcoll/core.hpp>

void call(MPI_Comm comm, [[maybe_unused]] double const* in, double* out) {
    papcoll::scatter(comm, out, 5, 0);
#ifdef PAPCOLL_MISTAKE
    papcoll::scatter(comm, in, 5, 0);
#endif
}
