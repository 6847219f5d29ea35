// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: the root is missing: an int, behind the data and the operator
#include <papcoll/core.hpp>

#include <functional>

void call(MPI_Comm comm, double const* in, double* out) {
    papcoll::reduce(comm, in, 5, out, std::plus<>(), 0, papcoll::circulant{});
#ifdef PAPCOLL_MISTAKE
    papcoll::reduce(comm, in, 5, out, std::plus<>(), papcoll::circulant{});
#endif
}
