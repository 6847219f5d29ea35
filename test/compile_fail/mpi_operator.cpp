// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: no argument is an operator for these elements; .* such as std::plus<>\(\); MPI_SUM and
// other MPI_Op
#include <papcoll/core.hpp>

#include <functional>

void call(MPI_Comm comm, double const* in, double* out) {
    papcoll::all_reduce(comm, in, 5, out, std::plus<>());
#ifdef PAPCOLL_MISTAKE
    papcoll::all_reduce(comm, in, 5, out, MPI_SUM);
#endif
}
