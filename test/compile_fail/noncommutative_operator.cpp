// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// expect: must be commutative; if it is, wrap it: papcoll::commutative
#include <papcoll/papcoll.hpp>

#include <vector>

void call(MPI_Comm comm, std::vector<double> const& in, std::vector<double>& out) {
    auto const op = [](double a, double b) { return a - b; };
    papcoll::reduce(comm, in.data(), in.size(), out.data(), papcoll::commutative(op), 0,
                    papcoll::clairvoyant{});
#ifdef PAPCOLL_MISTAKE
    papcoll::reduce(comm, in.data(), in.size(), out.data(), op, 0, papcoll::clairvoyant{});
#endif
}
