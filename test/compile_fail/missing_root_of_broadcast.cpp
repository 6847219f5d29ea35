// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: the root is missing: an int, behind the data
#include <papcoll/core.hpp>

void call(MPI_Comm comm, double* values) {
    papcoll::broadcast(comm, values, 5, 0);
#ifdef PAPCOLL_MISTAKE
    papcoll::broadcast(comm, values, 5);
#endif
}
