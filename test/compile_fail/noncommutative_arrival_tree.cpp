// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: must be commutative; if it is, wrap it: papcoll::commutative
#include <papcoll/papcoll.hpp>

#include <functional>
#include <string>

void call(MPI_Comm comm, std::string const& in, std::string& out) {
    papcoll::reduce(comm, in, out, std::plus<>(), 0, papcoll::greedy_tree{});
#ifdef PAPCOLL_MISTAKE
    papcoll::reduce(comm, in, out, std::plus<>(), 0, papcoll::arrival_tree{});
#endif
}
