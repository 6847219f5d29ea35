// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: a broadcast writes its values; they must not be const
#include <papcoll/core.hpp>

void call(MPI_Comm comm, int* values, [[maybe_unused]] int const* constants) {
    papcoll::broadcast(comm, values, 5, 0);
#ifdef PAPCOLL_MISTAKE
    papcoll::broadcast(comm, constants, 5, 0);
#endif
}
