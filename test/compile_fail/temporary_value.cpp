// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: this call returns before it has ended and reads its input until then; a temporary is gone
#include <papcoll/core.hpp>

#include <functional>

void call(MPI_Comm comm, int value, int& result) {
    papcoll::iall_reduce(comm, value, result, std::plus<>()).wait();
#ifdef PAPCOLL_MISTAKE
    papcoll::iall_reduce(comm, value + 1, result, std::plus<>()).wait();
#endif
}
