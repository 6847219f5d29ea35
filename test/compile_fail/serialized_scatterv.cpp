// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: values that must be serialized can be broadcast, reduced
#include <papcoll/papcoll.hpp>

#include <string>
#include <vector>

void call(MPI_Comm comm, std::string const* in, std::string* out,
          [[maybe_unused]] std::vector<int> const& sizes) {
    papcoll::scatter(comm, in, out, 5, 0);
#ifdef PAPCOLL_MISTAKE
    papcoll::scatterv(comm, in, sizes, out, 0);
#endif
}
