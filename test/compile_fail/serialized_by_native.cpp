// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: the policy native needs an MPI datatype
#include <papcoll/papcoll.hpp>

#include <string>

void call(MPI_Comm comm, std::string* texts) {
    papcoll::broadcast(comm, texts, 1, 0, papcoll::binomial_tree{});
#ifdef PAPCOLL_MISTAKE
    papcoll::broadcast(comm, texts, 1, 0, papcoll::native{});
#endif
}
