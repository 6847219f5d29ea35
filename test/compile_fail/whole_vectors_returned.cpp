// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: std::vectors are combined element by element; for an operator of whole vectors
#include <papcoll/papcoll.hpp>

#include <functional>
#include <vector>

using numbers = std::vector<double>;

auto call(MPI_Comm comm, numbers const& in) -> numbers {
    [[maybe_unused]] auto const joined = [](numbers a, numbers const& b) {
        a.insert(a.end(), b.begin(), b.end());
        return a;
    };
#ifdef PAPCOLL_MISTAKE
    return papcoll::all_reduce(comm, in, joined);
#else
    return papcoll::all_reduce(comm, in, std::plus<>());
#endif
}
