// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: (nodiscard|warn_unused_result|ignoring return)
#include <papcoll/core.hpp>

#include <functional>

#ifdef PAPCOLL_MISTAKE
#pragma GCC diagnostic error "-Wunused-result"
#endif

void call(MPI_Comm comm, int const* in, int* out) {
#ifdef PAPCOLL_MISTAKE
    papcoll::ireduce(comm, in, 1, out, std::plus<>(), 0, papcoll::clairvoyant{});
#else
    papcoll::ireduce(comm, in, 1, out, std::plus<>(), 0, papcoll::clairvoyant{}).wait();
#endif
}
