// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/core.hpp>

#include <mpi.h>

#include <cstdio>
#include <functional>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int sum = 0;
    papcoll::reduce(MPI_COMM_WORLD, &rank, 1, &sum, std::plus<>{}, 0, papcoll::clairvoyant{});
    bool const right = rank != 0 || sum == ranks * (ranks - 1) / 2;
    if (rank == 0) std::printf("papcoll example: %d ranks, sum %d\n", ranks, sum);
    MPI_Finalize();
    return right ? 0 : 1;
}
