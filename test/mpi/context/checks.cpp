// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// ranks: 1 2 3 8
#include <mpi.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "../../support/collective_suite.hpp"

// The environment is read once, so this program has the one test.
TEST_CASE("PAPCOLL_CHECKS=agreed on one rank lets ranks that disagree throw in place of waiting for ever") {
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == ranks - 1) setenv("PAPCOLL_CHECKS", "agreed", 1);
    std::vector<int> const in(10, 1);
    std::vector<int> out(10);
    papcoll::all_reduce(MPI_COMM_WORLD, in, out, std::plus<>());
    CHECK(out == std::vector<int>(10, ranks));
    CHECK(papcoll::context_of(MPI_COMM_WORLD)->checks() == papcoll::check_level::agreed);
    auto const disagreeing = [&] {
        papcoll::all_reduce(MPI_COMM_WORLD, in.data(), rank == 0 ? 9U : 10U, out.data(), std::plus<>());
    };
    if (ranks == 1) return disagreeing();
    auto const name = " [all_reduce, operation 1, rank " + std::to_string(rank) + "]";
    collective_suite::says("ranks disagree on the count: from 9 to 10" + name, disagreeing);
}
