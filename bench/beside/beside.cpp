// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// papcoll-bench beside: all collectives beside the MPI library's own routines, in turn, on all ranks.
#include <papcoll/core.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "../support/document.hpp"
#include "../support/program.hpp"
#include "calls.hpp"

namespace bench {
namespace {

struct settings {
    std::vector<std::size_t> sizes = parse_sizes({"8:4Mi:8"});
    effort repeat{.warm_up = 3, .repetitions = 7, .narrow = 0.02, .seconds = 0.3};
    int calls = 1;
    std::vector<std::string> operations = {};
    std::string json;
};

struct pair_of_times {
    std::vector<double> mpi, papcoll;
};

auto measure(collective const& what, std::size_t bytes, settings const& s) -> pair_of_times {
    buffers b(MPI_COMM_WORLD, bytes);
    for (int i = 0; i < s.repeat.warm_up; ++i) {
        what.mpi(b);
        what.papcoll(b);
    }
    pair_of_times times;
    double const begin = MPI_Wtime();
    auto const goes_on = [&] {
        auto const done = times.mpi.size();
        if (done < static_cast<std::size_t>(s.repeat.repetitions)) return true;
        return done % 8 == 0 // sorting takes longer than a short call
                   ? MPI_Wtime() - begin < s.repeat.seconds &&
                         median_interval(ratios(times.mpi, times.papcoll)).relative_width() > s.repeat.narrow
                   : true;
    };
    while (agreed(MPI_COMM_WORLD, goes_on())) {
        bool const we_begin = times.mpi.size() % 2 == 0;
        if (we_begin) times.papcoll.push_back(time_of(what.papcoll, b, s.calls));
        times.mpi.push_back(time_of(what.mpi, b, s.calls));
        if (!we_begin) times.papcoll.push_back(time_of(what.papcoll, b, s.calls));
    }
    return times;
}

/// Prints a line, and returns the ratio of the medians.
auto report(collective const& what, std::size_t bytes, pair_of_times const& times, document& all) -> double {
    auto const mpi = statistics_of(times.mpi), papcoll = statistics_of(times.papcoll);
    double const ratio = mpi.median / papcoll.median;
    auto const paired = statistics_of(ratios(times.mpi, times.papcoll));
    std::printf("%-14s %8zu B  MPI %10.2f us  papcoll %10.2f us  MPI / papcoll %6.2f\n", what.name.c_str(),
                bytes, mpi.median, papcoll.median, ratio);
    std::fflush(stdout);
    for (auto const& [policy, time] : {std::pair("native", &mpi), std::pair("default", &papcoll)})
        all.add({{"operation", what.name},
                 {"policy", policy},
                 {"bytes", bytes},
                 {"time_us", in_json(*time)},
                 {"native_to_this", in_json(paired)}});
    return ratio;
}

void print_mean(char const* name, std::vector<double> const& of) {
    if (!of.empty())
        std::printf("%-14s MPI / papcoll: geometric mean %.2f, least %.2f\n", name, geometric_mean(of),
                    *std::min_element(of.begin(), of.end()));
}

auto run(settings const& s) -> int {
    papcoll::attach(MPI_COMM_WORLD);
    document result(s.json, "beside", {{"ranks", world_size()}, {"calls", s.calls}});
    std::vector<double> all;
    std::vector<std::pair<std::string, std::vector<double>>> each;
    for (auto const& what : all_collectives()) {
        auto const& wanted = s.operations;
        if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), what.name) == wanted.end()) continue;
        each.emplace_back(what.name, std::vector<double>());
        for (auto const bytes : s.sizes) {
            auto const times = measure(what, std::max<std::size_t>(bytes, 1), s);
            if (world_rank() != 0) continue;
            all.push_back(report(what, bytes, times, result));
            each.back().second.push_back(all.back());
        }
    }
    result.write();
    if (world_rank() != 0) return 0;
    std::printf("\n%d ranks\n", world_size());
    for (auto const& [name, of] : each) print_mean(name.c_str(), of);
    print_mean("all", all);
    return 0;
}

} // namespace

void add_beside(program& all) {
    auto const s = std::make_shared<settings>();
    auto& app = all.add("beside", "All collectives by default, beside the MPI library's own",
                        MPI_THREAD_SINGLE, [s] { return run(*s); });
    add_sizes(app, s->sizes, "of the data of one rank, or of all ranks where it is divided");
    s->repeat.add_to(app);
    app.add_option("--calls", s->calls, "in a row; 1: from rest")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--operations", s->operations, "default: all")->delimiter(',');
    add_json(app, s->json);
}

} // namespace bench
