// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: the first argument must be a boost::mpi::communicator, an MPI_Comm or a
#include <papcoll/core.hpp>

void call(MPI_Comm comm, [[maybe_unused]] int ranks) {
    papcoll::barrier(comm);
#ifdef PAPCOLL_MISTAKE
    papcoll::barrier(&ranks);
#endif
}
