// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: a std::vector<bool> has no elements in memory
#include <papcoll/papcoll.hpp>

#include <functional>
#include <vector>

void call(MPI_Comm comm, std::vector<char> const& in, [[maybe_unused]] std::vector<bool> const& bits) {
    (void)papcoll::all_reduce(comm, in, std::bit_or<>());
#ifdef PAPCOLL_MISTAKE
    (void)papcoll::all_reduce(comm, bits, std::logical_or<>());
#endif
}
