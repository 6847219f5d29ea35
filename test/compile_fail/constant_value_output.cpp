// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: the result is written to .out.; it must not be const
#include <papcoll/core.hpp>

#include <functional>

void call(MPI_Comm comm, double in, double& out, [[maybe_unused]] double const& constant) {
    papcoll::all_reduce(comm, in, out, std::plus<>());
#ifdef PAPCOLL_MISTAKE
    papcoll::all_reduce(comm, in, constant, std::plus<>());
#endif
}
