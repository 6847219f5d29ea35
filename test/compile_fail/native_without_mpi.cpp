// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// anywhere
// expect: the policy native needs an MPI communicator
#include <papcoll/core.hpp>
#include <papcoll/transport/threads.hpp>

#include <functional>

void call(papcoll::threads::endpoint& self, int const* in, int* out) {
    papcoll::reduce(self, in, 1, out, std::plus<>(), 0, papcoll::clairvoyant{});
#ifdef PAPCOLL_MISTAKE
    papcoll::reduce(self, in, 1, out, std::plus<>(), 0, papcoll::native{});
#endif
}
