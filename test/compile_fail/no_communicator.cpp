// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: the first argument must be a boost::mpi::communicator, an MPI_Comm or a transport
#include <papcoll/core.hpp>

void call(MPI_Comm comm, int* values) {
    papcoll::broadcast(comm, values, 5, 0);
#ifdef PAPCOLL_MISTAKE
    papcoll::broadcast(values, 5, 0);
#endif
}
