// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/collective/all_reduce.hpp>
#include <papcoll/collective/broadcast.hpp>

#include <mpi.h>

#include <cstdio>
#include <functional>

auto largest(double mine) -> double; // in the other file

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int const sum = papcoll::all_reduce(MPI_COMM_WORLD, rank, std::plus<>());
    double const most = largest(rank);
    int root = rank;
    papcoll::broadcast(MPI_COMM_WORLD, root, 0);
    bool const right = sum == ranks * (ranks - 1) / 2 && most == ranks - 1 && root == 0;
    if (rank == 0)
        std::printf("papcoll mixed: %d ranks, sum %d, %s\n", ranks, sum, right ? "right" : "wrong");
    MPI_Finalize();
    return right ? 0 : 1;
}
