// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/collective/all_reduce.hpp>
#include <papcoll/impl.hpp>

#include <algorithm>

auto largest(double mine) -> double {
    auto const larger = papcoll::commutative([](double a, double b) { return std::max(a, b); });
    return papcoll::all_reduce(MPI_COMM_WORLD, mine, larger);
}
