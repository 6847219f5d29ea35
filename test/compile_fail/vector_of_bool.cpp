// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: a std::vector<bool> has no elements in memory
#include <papcoll/core.hpp>

#include <vector>

void call(MPI_Comm comm, bool const* in, bool* out, [[maybe_unused]] std::vector<bool>& bits) {
    papcoll::all_gather(comm, in, 5, out);
#ifdef PAPCOLL_MISTAKE
    papcoll::all_gather(comm, in, 5, bits);
#endif
}
