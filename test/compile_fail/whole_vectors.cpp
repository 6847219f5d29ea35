// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: std::vectors are combined element by element; for an operator of whole vectors
#include <papcoll/papcoll.hpp>

#include <vector>

using numbers = std::vector<double>;

void call(MPI_Comm comm, numbers const& in, numbers& out) {
    auto const joined = [](numbers a, numbers const& b) {
        a.insert(a.end(), b.begin(), b.end());
        return a;
    };
    papcoll::all_reduce(comm, &in, 1, &out, joined);
#ifdef PAPCOLL_MISTAKE
    papcoll::all_reduce(comm, in, out, joined);
#endif
}
