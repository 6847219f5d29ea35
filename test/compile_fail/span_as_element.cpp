// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: pointers, iterators, views .* pass the elements themselves, as data\(\) and size\(\)
#include <papcoll/core.hpp>

#include <span>

void call(MPI_Comm comm, std::span<int> values) {
    papcoll::broadcast(comm, values.data(), values.size(), 0);
#ifdef PAPCOLL_MISTAKE
    papcoll::broadcast(comm, values, 0);
#endif
}
