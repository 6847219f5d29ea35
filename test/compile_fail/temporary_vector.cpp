// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: this call returns before it has ended and reads its input until then; a temporary is gone
#include <papcoll/core.hpp>

#include <vector>

void call(MPI_Comm comm, std::vector<int> const& in, std::vector<int>& out) {
    papcoll::iall_to_all(comm, in, out).wait();
#ifdef PAPCOLL_MISTAKE
    papcoll::iall_to_all(comm, std::vector<int>(in), out).wait();
#endif
}
