// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: the count comes before .out.: .comm, in, n, out, op.
#include <papcoll/core.hpp>

#include <functional>

void call(MPI_Comm comm, double const* in, double* out) {
    papcoll::reduce_scatter_block(comm, in, 5, out, std::plus<>());
#ifdef PAPCOLL_MISTAKE
    papcoll::reduce_scatter_block(comm, in, out, 5, std::plus<>());
#endif
}
