// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: the result is written to .out.; it must not be const
#include <papcoll/core.hpp>

#include <vector>

void call(MPI_Comm comm, int value, std::vector<int>& out,
          [[maybe_unused]] std::vector<int> const& constants) {
    papcoll::gather(comm, value, out, 0);
#ifdef PAPCOLL_MISTAKE
    papcoll::gather(comm, value, constants, 0);
#endif
}
