// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: the count comes before .out.: .comm, in, n, out, op.
#include <papcoll/core.hpp>

#include <functional>

void call(MPI_Comm comm, double const* in, double* out) {
    papcoll::reduce(comm, in, 5, out, std::plus<>(), 0);
#ifdef PAPCOLL_MISTAKE
    papcoll::reduce(comm, in, out, 5, std::plus<>(), 0);
#endif
}
