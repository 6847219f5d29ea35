// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// What the tracer adds to a collective call: the same calls through MPI_…, which a preloaded tracer records,
// and through PMPI_…, which it does not see, in alternating blocks of one run.
//
//     mpirun -n 2 env LD_PRELOAD=libpapcoll_tracer.so tracer_overhead [blocks] [calls per block]
//
// Without the preload both are the same, and the difference is the noise of the method.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using call = void (*)();

std::int64_t value = 1;
std::int64_t sum = 0;

struct pair_of_calls {
    char const* name;
    call traced;
    call plain;
};

constexpr pair_of_calls measured[] = {
    {"allreduce, 8 bytes", [] { MPI_Allreduce(&value, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD); },
     [] { PMPI_Allreduce(&value, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD); }},
    {"bcast, 8 bytes", [] { MPI_Bcast(&value, 1, MPI_INT64_T, 0, MPI_COMM_WORLD); },
     [] { PMPI_Bcast(&value, 1, MPI_INT64_T, 0, MPI_COMM_WORLD); }},
    {"barrier", [] { MPI_Barrier(MPI_COMM_WORLD); }, [] { PMPI_Barrier(MPI_COMM_WORLD); }},
    {"allreduce on MPI_COMM_SELF",
     [] { MPI_Allreduce(&value, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_SELF); },
     [] { PMPI_Allreduce(&value, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_SELF); }},
};

/// Nanoseconds per call, of the slowest rank.
auto time_block(call once, int calls) -> double {
    PMPI_Barrier(MPI_COMM_WORLD);
    auto const begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) once();
    std::chrono::duration<double, std::nano> const took = std::chrono::steady_clock::now() - begin;
    double mine = took.count() / calls;
    double slowest = 0;
    PMPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

auto quantile(std::vector<double> values, double q) -> double {
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

void measure(pair_of_calls const& what, int blocks, int calls, int rank) {
    std::vector<double> plain;
    std::vector<double> traced;
    std::vector<double> added;
    for (int i = 0; i < blocks; ++i) {
        bool const plain_first = i % 2 == 0;
        double const first = time_block(plain_first ? what.plain : what.traced, calls);
        double const second = time_block(plain_first ? what.traced : what.plain, calls);
        plain.push_back(plain_first ? first : second);
        traced.push_back(plain_first ? second : first);
        added.push_back(traced.back() - plain.back());
    }
    double const median = quantile(plain, 0.5);
    if (rank == 0)
        std::printf("| %s | %.0f | %.0f | %.0f (%.0f … %.0f) | %.1f %% |\n", what.name, median,
                    quantile(traced, 0.5), quantile(added, 0.5), quantile(added, 0.25), quantile(added, 0.75),
                    100 * quantile(added, 0.5) / median);
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int const blocks = argc > 1 ? std::atoi(argv[1]) : 101;
    int const calls = argc > 2 ? std::atoi(argv[2]) : 2000;
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (blocks < 1 || calls < 1) {
        if (rank == 0) std::fprintf(stderr, "usage: tracer_overhead [blocks] [calls per block]\n");
        MPI_Finalize();
        return 2;
    }
    if (rank == 0)
        std::printf(
            "%d ranks, %d pairs of blocks of %d calls; ns per call on the slowest rank, medians; added: "
            "median (quartiles) of the pairs' differences\n\n"
            "| call | PMPI | MPI | added | |\n|---|---|---|---|---|\n",
            ranks, blocks, calls);
    for (auto const& what : measured) measure(what, blocks, calls, rank);
    MPI_Finalize();
}
