// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: values that must be serialized are all-reduced by a reduction to a root and the way back
#include <papcoll/papcoll.hpp>

#include <functional>
#include <string>

void call(MPI_Comm comm, std::string const& in, std::string& out) {
    auto const op = papcoll::commutative(std::plus<>());
    papcoll::all_reduce(comm, in, out, op, papcoll::arrival_tree{});
#ifdef PAPCOLL_MISTAKE
    papcoll::all_reduce(comm, in, out, op, papcoll::arrival_all_reduce{});
#endif
}
