// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: values that must be serialized can be broadcast, reduced
#include <papcoll/papcoll.hpp>

#include <string>
#include <vector>

void call(MPI_Comm comm, std::string const* in, std::string* out,
          [[maybe_unused]] std::vector<int> const& sizes) {
    papcoll::all_to_all(comm, in, 5, out);
#ifdef PAPCOLL_MISTAKE
    papcoll::all_to_allv(comm, in, sizes, out, sizes);
#endif
}
