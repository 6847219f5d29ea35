// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// The time of repeated collectives of 8 B to 4 KiB beside the MPI library's own, in turn, on all of mpirun's
// ranks: medians over the repetitions of a loop of calls, of the slowest rank. Rooted ones are followed by a
// barrier, since ranks would run ahead of each other otherwise; it is part of both times.
#include <papcoll/core.hpp>

#include <CLI/CLI.hpp>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <vector>

namespace {

MPI_Comm const world = MPI_COMM_WORLD;

struct options {
    int calls = 2000;
    int repetitions = 9;
};

auto median(std::vector<double> values) -> double {
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Microseconds of one call.
template <class Call>
auto time_of(Call const& call, int calls) -> double {
    MPI_Barrier(world);
    double elapsed = MPI_Wtime();
    for (int i = 0; i < calls; ++i) call();
    elapsed = MPI_Wtime() - elapsed;
    double slowest = 0;
    MPI_Allreduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, world);
    return slowest / calls * 1e6;
}

/// Prints a line and returns MPI's time ÷ ours.
template <class Theirs, class Ours>
auto compare(char const* name, std::size_t bytes, options const& o, Theirs const& theirs, Ours const& ours)
    -> double {
    std::vector<double> mpi, papcoll, ratio;
    for (int i = 0; i < o.repetitions; ++i) {
        mpi.push_back(time_of(theirs, o.calls));
        papcoll.push_back(time_of(ours, o.calls));
        ratio.push_back(mpi.back() / papcoll.back());
    }
    int rank = 0;
    MPI_Comm_rank(world, &rank);
    if (rank == 0)
        std::printf("%-11s %5zu B  MPI %8.2f us  papcoll %8.2f us  MPI / papcoll %5.2f\n", name, bytes,
                    median(mpi), median(papcoll), median(ratio));
    return median(ratio);
}

void measure(options const& o) {
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &ranks);
    auto const op = std::plus<float>();
    std::vector<double> logarithms(5, 0.0);
    auto const sizes = {std::size_t(2), std::size_t(16), std::size_t(128), std::size_t(1024)};
    for (std::size_t const n : sizes) {
        auto const k = static_cast<int>(n);
        std::size_t const all = n * static_cast<std::size_t>(ranks);
        std::vector<float> values(n, 1), in(all, 1), out(all);
        auto* const to = out.data();
        auto const add = [&](std::size_t which, double ratio) { logarithms[which] += std::log(ratio); };
        add(0, compare(
                   "all_reduce", 4 * n, o,
                   [&] { MPI_Allreduce(values.data(), to, k, MPI_FLOAT, MPI_SUM, world); },
                   [&] { papcoll::all_reduce(world, values.data(), n, to, op); }));
        add(1, compare(
                   "reduce", 4 * n, o,
                   [&] {
                       MPI_Reduce(values.data(), to, k, MPI_FLOAT, MPI_SUM, 0, world);
                       MPI_Barrier(world);
                   },
                   [&] {
                       papcoll::reduce(world, values.data(), n, to, op, 0);
                       MPI_Barrier(world);
                   }));
        add(2, compare(
                   "broadcast", 4 * n, o,
                   [&] {
                       MPI_Bcast(values.data(), k, MPI_FLOAT, 0, world);
                       MPI_Barrier(world);
                   },
                   [&] {
                       papcoll::broadcast(world, values.data(), n, 0);
                       MPI_Barrier(world);
                   }));
        add(3, compare(
                   "all_gather", 4 * n, o,
                   [&] { MPI_Allgather(values.data(), k, MPI_FLOAT, to, k, MPI_FLOAT, world); },
                   [&] { papcoll::all_gather(world, values.data(), n, to); }));
        add(4, compare(
                   "all_to_all", 4 * n, o,
                   [&] { MPI_Alltoall(in.data(), k, MPI_FLOAT, to, k, MPI_FLOAT, world); },
                   [&] { papcoll::all_to_all(world, in.data(), n, to); }));
    }
    if (rank != 0) return;
    std::printf("\ngeometric means of MPI / papcoll:");
    std::size_t which = 0;
    for (char const* name : {"all_reduce", "reduce", "broadcast", "all_gather", "all_to_all"})
        std::printf("  %s %.2f", name, std::exp(logarithms[which++] / static_cast<double>(sizes.size())));
    std::printf("\n");
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app("Short collectives beside the MPI library's own; run it with mpirun.");
    options o;
    app.add_option("--calls", o.calls, "calls in a row")->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--repetitions", o.repetitions, "how often")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    MPI_Init(&argc, &argv);
    papcoll::attach(world);
    measure(o);
    MPI_Finalize();
    return 0;
}
