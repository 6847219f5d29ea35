// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: this policy reorders operands, so the operator must be commutative
#include <papcoll/core.hpp>

void call(MPI_Comm comm, int const* in, int* out) {
    int const n = 5;
    auto const op = [](int a, int b) { return 2 * a + b; };
    papcoll::reduce(comm, in, n, out, op, 0);
#ifdef PAPCOLL_MISTAKE
    papcoll::reduce(comm, in, n, out, op, 0, papcoll::circulant{});
#endif
}
