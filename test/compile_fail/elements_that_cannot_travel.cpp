// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: elements must be trivially copyable, or have a Boost.MPI datatype
#include <papcoll/core.hpp>

#include <string>

void call(MPI_Comm comm, int* numbers, [[maybe_unused]] std::string* texts) {
    papcoll::broadcast(comm, numbers, 1, 0, papcoll::circulant{});
#ifdef PAPCOLL_MISTAKE
    papcoll::broadcast(comm, texts, 1, 0, papcoll::circulant{});
#endif
}
