// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// ranks: 1 2 3 8
#include <papcoll/papcoll.hpp>

#include <doctest/doctest.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>

// The environment is read once, so this program has the one test.
TEST_CASE("rank 0 reads the tuning table and all ranks choose by it") {
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::string const name = "tuning_file_" + std::to_string(ranks) + ".json";
    std::string const table = R"({"papcoll_tuning": 1, "choices": [
        {"operation": "reduce", "ranks": 3, "bytes": 4, "policy": "fibonacci_tree"}]})";
    if (rank == 0) std::ofstream(name) << table;
    // No other rank has a file of that name, or needs one.
    setenv("PAPCOLL_TUNING_FILE", (rank == 0 ? name : name + ".not_there").c_str(), 1);
    papcoll::attach(MPI_COMM_WORLD);
    if (rank == 0) std::remove(name.c_str());

    auto const c = papcoll::context_of(MPI_COMM_WORLD);
    CHECK(c->tuning().named);
    CHECK(c->tuning().content == table);
    papcoll::call_shape shape{.operation = papcoll::collective_kind::reduce, .ranks = ranks, .rank = rank};
    shape.count = 1;
    shape.element_bytes = 4;
    shape.tuning = &c->tuning();
    CHECK(papcoll::automatic{}.choose(shape, c->link()).choice.policy == "fibonacci_tree");
    int const one = 1;
    int sum = 0;
    papcoll::reduce(MPI_COMM_WORLD, one, sum, std::plus<>(), 0);
    CHECK(sum == (rank == 0 ? ranks : 0));

    // A file that cannot be read is an error of every call that would look at it, on all ranks.
    MPI_Comm other = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    papcoll::attach(other);
    CHECK_THROWS_AS(papcoll::reduce(other, one, sum, std::plus<>(), 0), std::invalid_argument);
    CHECK_NOTHROW(papcoll::reduce(other, one, sum, std::plus<>(), 0, papcoll::circulant{}));
    MPI_Comm_free(&other);
}
