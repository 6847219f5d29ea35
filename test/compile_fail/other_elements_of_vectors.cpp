// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: .out. must have elements of the same type as .in.
#include <papcoll/core.hpp>

#include <vector>

void call(MPI_Comm comm, std::vector<int> const& in, std::vector<int>& out,
          [[maybe_unused]] std::vector<long>& longs, std::vector<int> const& sizes) {
    papcoll::all_gatherv(comm, in, out, sizes);
#ifdef PAPCOLL_MISTAKE
    papcoll::all_gatherv(comm, in, longs, sizes);
#endif
}
