// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: pointers, iterators, views .* pass the elements themselves
#include <papcoll/core.hpp>

void call(MPI_Comm comm, int const* in, int* out, [[maybe_unused]] int** pointers) {
    papcoll::gather(comm, in, 1, out, 0);
#ifdef PAPCOLL_MISTAKE
    papcoll::gather(comm, pointers, 1, pointers + 1, 0);
#endif
}
