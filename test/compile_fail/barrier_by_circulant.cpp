// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: this policy or scheduler does not serve this collective
#include <papcoll/core.hpp>

void call(MPI_Comm comm) {
    papcoll::barrier(comm, papcoll::dissemination{});
#ifdef PAPCOLL_MISTAKE
    papcoll::barrier(comm, papcoll::circulant{});
#endif
}
