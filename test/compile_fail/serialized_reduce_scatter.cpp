// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: values that must be serialized can be broadcast, reduced
#include <papcoll/papcoll.hpp>

#include <functional>
#include <string>
#include <vector>

void call(MPI_Comm comm, std::string const* in, std::string* out,
          [[maybe_unused]] std::vector<int> const& sizes) {
    auto const op = papcoll::commutative(std::plus<>());
    papcoll::reduce(comm, in, 5, out, op, 0, papcoll::circulant{});
#ifdef PAPCOLL_MISTAKE
    papcoll::reduce_scatter(comm, in, sizes, out, op, papcoll::circulant{});
#endif
}
