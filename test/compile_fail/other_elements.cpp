// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: .out. must have elements of the same type as .in.
#include <papcoll/core.hpp>

#include <functional>

void call(MPI_Comm comm, double const* in, double* out, [[maybe_unused]] float* floats) {
    papcoll::reduce(comm, in, 5, out, std::plus<>(), 0);
#ifdef PAPCOLL_MISTAKE
    papcoll::reduce(comm, in, 5, floats, std::plus<>(), 0);
#endif
}
