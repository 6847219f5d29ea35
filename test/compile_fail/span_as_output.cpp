// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: papcoll: pointers, iterators, views .* pass the elements themselves, as data\(\) and size\(\)
#include <papcoll/core.hpp>

#include <functional>
#include <span>

void call(MPI_Comm comm, std::span<double const> in, std::span<double> out) {
    papcoll::all_reduce(comm, in.data(), in.size(), out.data(), std::plus<>());
#ifdef PAPCOLL_MISTAKE
    papcoll::all_reduce(comm, in, out, std::plus<>());
#endif
}
