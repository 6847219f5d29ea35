// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: this policy or scheduler does not serve this collective; leave it out
#include <papcoll/core.hpp>

void call(MPI_Comm comm, int* values) {
    papcoll::broadcast(comm, values, 1, 0, papcoll::circulant{});
#ifdef PAPCOLL_MISTAKE
    papcoll::broadcast(comm, values, 1, 0, papcoll::clairvoyant{}); // it only reduces
#endif
}
