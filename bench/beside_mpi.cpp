// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// All collectives beside the MPI library's own routines, in turn, on all of mpirun's ranks: from rest, where
// all leave two barriers together and the last to be done counts, or in a loop of calls. Prints medians, and
// the geometric mean and the least of their ratios.
#include <papcoll/core.hpp>

#include <CLI/CLI.hpp>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace {

MPI_Comm const world = MPI_COMM_WORLD;

struct options {
    std::size_t least_bytes = 8, most_bytes = std::size_t(4) << 20, factor = 8;
    double seconds = 0.3;
    int calls = 1;
    std::vector<std::string> only = {};
};

auto median(std::vector<double> values) -> double {
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}
auto size_of_world() -> int {
    int ranks = 1;
    MPI_Comm_size(world, &ranks);
    return ranks;
}
auto rank_in_world() -> int {
    int rank = 0;
    MPI_Comm_rank(world, &rank);
    return rank;
}

/// The buffers of one size: `bytes` of each rank, in all-gathers and all-to-alls of all ranks together.
struct buffers {
    explicit buffers(std::size_t bytes)
        : n(std::max<std::size_t>(bytes / sizeof(float), 1))
        , part(std::max<std::size_t>(n / static_cast<std::size_t>(size_of_world()), 1))
        , in(std::max(n, part * static_cast<std::size_t>(size_of_world())), 1.0F)
        , out(in.size())
        , sizes(static_cast<std::size_t>(size_of_world()), part)
        , counts(sizes.begin(), sizes.end()) {}

    std::size_t n, part;
    std::vector<float> in, out;
    std::vector<std::size_t> sizes;
    std::vector<int> counts;
};

struct collective {
    char const* name;
    std::function<void(buffers&)> mpi, papcoll;
};

auto collectives() -> std::vector<collective> {
    auto const op = std::plus<float>();
    auto const n = [](std::size_t count) { return static_cast<int>(count); };
    return {
        {"broadcast", [=](buffers& b) { MPI_Bcast(b.in.data(), n(b.n), MPI_FLOAT, 0, world); },
         [](buffers& b) { papcoll::broadcast(world, b.in.data(), b.n, 0); }},
        {"reduce",
         [=](buffers& b) { MPI_Reduce(b.in.data(), b.out.data(), n(b.n), MPI_FLOAT, MPI_SUM, 0, world); },
         [=](buffers& b) { papcoll::reduce(world, b.in.data(), b.n, b.out.data(), op, 0); }},
        {"all_reduce",
         [=](buffers& b) { MPI_Allreduce(b.in.data(), b.out.data(), n(b.n), MPI_FLOAT, MPI_SUM, world); },
         [=](buffers& b) { papcoll::all_reduce(world, b.in.data(), b.n, b.out.data(), op); }},
        {"gather",
         [=](buffers& b) {
             MPI_Gather(b.in.data(), n(b.part), MPI_FLOAT, b.out.data(), n(b.part), MPI_FLOAT, 0, world);
         },
         [](buffers& b) { papcoll::gather(world, b.in.data(), b.part, b.out.data(), 0); }},
        {"all_gather",
         [=](buffers& b) {
             MPI_Allgather(b.in.data(), n(b.part), MPI_FLOAT, b.out.data(), n(b.part), MPI_FLOAT, world);
         },
         [](buffers& b) { papcoll::all_gather(world, b.in.data(), b.part, b.out.data()); }},
        {"reduce_scatter",
         [](buffers& b) {
             MPI_Reduce_scatter(b.in.data(), b.out.data(), b.counts.data(), MPI_FLOAT, MPI_SUM, world);
         },
         [=](buffers& b) { papcoll::reduce_scatter(world, b.in.data(), b.sizes, b.out.data(), op); }},
        {"all_to_all",
         [=](buffers& b) {
             MPI_Alltoall(b.in.data(), n(b.part), MPI_FLOAT, b.out.data(), n(b.part), MPI_FLOAT, world);
         },
         [](buffers& b) { papcoll::all_to_all(world, b.in.data(), b.part, b.out.data()); }},
    };
}

/// Microseconds of one call, of the slowest rank.
auto time_of(std::function<void(buffers&)> const& call, buffers& b, int calls) -> double {
    MPI_Barrier(world);
    MPI_Barrier(world);
    double elapsed = MPI_Wtime();
    for (int i = 0; i < calls; ++i) call(b);
    elapsed = MPI_Wtime() - elapsed;
    double slowest = 0;
    MPI_Allreduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, world);
    return slowest / calls * 1e6;
}

/// Whether rank 0 has time left; the same on all ranks.
auto goes_on(double begin, double seconds, std::size_t rounds) -> bool {
    int more = rounds < 6 || MPI_Wtime() - begin < seconds ? 1 : 0;
    MPI_Bcast(&more, 1, MPI_INT, 0, world);
    return more != 0;
}

/// The ratio of the medians.
auto measure(collective const& what, std::size_t bytes, options const& o) -> double {
    buffers b(bytes);
    for (int i = 0; i < 3; ++i) {
        what.mpi(b);
        what.papcoll(b);
    }
    std::vector<double> theirs, ours;
    double const begin = MPI_Wtime();
    while (goes_on(begin, o.seconds, ours.size())) {
        bool const we_begin = ours.size() % 2 == 0;
        if (we_begin) ours.push_back(time_of(what.papcoll, b, o.calls));
        theirs.push_back(time_of(what.mpi, b, o.calls));
        if (!we_begin) ours.push_back(time_of(what.papcoll, b, o.calls));
    }
    auto const mpi = median(theirs), papcoll = median(ours);
    if (rank_in_world() == 0) {
        std::printf("%-14s %8zu B  MPI %10.2f us  papcoll %10.2f us  MPI / papcoll %6.2f\n", what.name, bytes,
                    mpi, papcoll, mpi / papcoll);
        std::fflush(stdout);
    }
    return mpi / papcoll;
}

struct summary {
    double logarithms = 0;
    int cells = 0;
    double least = std::numeric_limits<double>::infinity();

    void add(double ratio) {
        logarithms += std::log(ratio);
        ++cells;
        least = std::min(least, ratio);
    }
    void print(char const* name) const {
        if (rank_in_world() == 0 && cells > 0)
            std::printf("%-14s MPI / papcoll: geometric mean %.2f, least %.2f\n", name,
                        std::exp(logarithms / cells), least);
    }
};

void measure(options const& o) {
    summary all;
    std::vector<std::pair<char const*, summary>> each;
    for (auto const& what : collectives()) {
        if (!o.only.empty() && std::find(o.only.begin(), o.only.end(), what.name) == o.only.end()) continue;
        summary mine;
        for (std::size_t bytes = o.least_bytes; bytes <= o.most_bytes; bytes *= o.factor) {
            auto const ratio = measure(what, bytes, o);
            mine.add(ratio);
            all.add(ratio);
        }
        each.emplace_back(what.name, mine);
    }
    if (rank_in_world() == 0) std::printf("\n%d ranks\n", size_of_world());
    for (auto const& [name, mine] : each) mine.print(name);
    all.print("all");
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app("All collectives beside the MPI library's own; run it with mpirun.");
    options o;
    app.add_option("--least-bytes", o.least_bytes, "of the shortest data")->capture_default_str();
    app.add_option("--most-bytes", o.most_bytes, "of the longest data")->capture_default_str();
    app.add_option("--factor", o.factor, "between two lengths")
        ->check(CLI::Range(2, 1024))
        ->capture_default_str();
    app.add_option("--seconds", o.seconds, "for each line, at least")->capture_default_str();
    app.add_option("--calls", o.calls, "in a row; 1: from rest")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--only", o.only, "these collectives");
    CLI11_PARSE(app, argc, argv);
    if (o.least_bytes == 0) o.least_bytes = 1;
    MPI_Init(&argc, &argv);
    papcoll::attach(world);
    measure(o);
    MPI_Finalize();
    return 0;
}
