// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// ranks: 1 2 3 8
#include <mpi.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "../../support/collective_suite.hpp"

// The environment is read once, so this program has the one test.
TEST_CASE("ranks that disagree on the environment are told so, all of them, at every call") {
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    setenv("PAPCOLL_REDUCE_ALGORITHM", rank == ranks - 1 ? "circulant" : "binomial_tree", 1);
    int const one = 1;
    int sum = 0;
    auto const call = [&] { papcoll::reduce(MPI_COMM_WORLD, one, sum, std::plus<>(), 0); };
    if (ranks == 1) {
        call();
        CHECK(sum == 1);
        return;
    }
    for (int repeat = 0; repeat < 3; ++repeat) collective_suite::says("disagree on the environment", call);
    CHECK(sum == 0);
}
