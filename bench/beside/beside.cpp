// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// papcoll-bench beside: all collectives beside the MPI library's own routines, in turn, on all ranks.
#include <papcoll/core.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "../support/document.hpp"
#include "../support/program.hpp"
#include "calls.hpp"

namespace bench {
namespace {

struct settings {
    call_settings call{.sizes = parse_sizes({"8:4Mi:8"}),
                       .repeat = {.warm_up = 3, .repetitions = 7, .narrow = 0.02, .seconds = 0.3}};
    bool plans = false;
    bool strings = false;
    int touch = 0; // KiB

    /// Who papcoll is compared with.
    [[nodiscard]] auto other() const -> char const* { return strings ? "Boost.MPI" : "MPI"; }
};

/// How a collective is called, by the names that are printed and written.
struct way {
    char const *shown, *policy;
    contestant made;
};

/// The MPI library's routine first.
auto ways_of(collective const& what, buffers& b, settings const& s) -> std::vector<way> {
    std::vector<way> all{{s.other(), "native", {what.mpi}}, {"papcoll", "default", {what.papcoll}}};
    if (!s.plans) return all;
    all.push_back({"a plan", "plan", {what.plan(b)}});
    all.push_back({"its own buffers", "buffered_plan", {what.buffered_plan(b)}});
    return all;
}

auto measure(collective const& what, std::size_t bytes, settings const& s) -> std::vector<way> {
    buffers b(MPI_COMM_WORLD, bytes);
    b.others.resize(static_cast<std::size_t>(s.touch) << 10);
    auto all = ways_of(what, b, s);
    std::vector<contestant*> contestants;
    for (auto& each : all) contestants.push_back(&each.made);
    take_turns(b, contestants, s.call, [&](auto const&) {
        auto const& mpi = all.front().made.times;
        return std::all_of(all.begin() + 1, all.end(), [&](way const& w) {
            return median_interval(ratios(mpi, w.made.times)).relative_width() <= s.call.repeat.narrow;
        });
    });
    return all;
}

/// Prints a line, and returns the ratio of the medians of MPI and papcoll's default.
auto report(collective const& what, std::size_t bytes, std::vector<way> const& all, document& to) -> double {
    auto const& mpi = all.front().made.times;
    std::printf("%-14s %8zu B", what.name.c_str(), bytes);
    for (auto const& each : all) {
        auto const times = statistics_of(each.made.times);
        std::printf("  %s %10.2f us", each.shown, times.median);
        to.add({{"operation", what.name},
                {"policy", each.policy},
                {"bytes", bytes},
                {"time_us", in_json(times)},
                {"native_to_this", in_json(statistics_of(ratios(mpi, each.made.times)))}});
    }
    double const ratio = median(mpi) / median(all[1].made.times);
    std::printf("  %s / papcoll %6.2f\n", all.front().shown, ratio);
    std::fflush(stdout);
    return ratio;
}

void print_mean(settings const& s, char const* name, std::vector<double> const& of) {
    if (!of.empty())
        std::printf("%-14s %s / papcoll: geometric mean %.2f, least %.2f\n", name, s.other(),
                    geometric_mean(of), *std::min_element(of.begin(), of.end()));
}

auto run(settings const& s) -> int {
    if (s.strings && s.plans) throw std::invalid_argument("--strings and --plans exclude each other");
    papcoll::attach(MPI_COMM_WORLD);
    document result(
        s.call.json, "beside",
        {{"ranks", world_size()}, {"calls", s.call.calls}, {"touch_kib", s.touch}, {"beside", s.other()}});
    std::vector<double> all;
    std::vector<std::pair<std::string, std::vector<double>>> each;
    for (auto const& what : s.strings ? all_collectives_of_strings() : all_collectives()) {
        if (!s.call.wants(what.name)) continue;
        each.emplace_back(what.name, std::vector<double>());
        for (auto const bytes : s.call.sizes) {
            auto const measured = measure(what, std::max<std::size_t>(bytes, 1), s);
            if (world_rank() != 0) continue;
            all.push_back(report(what, bytes, measured, result));
            each.back().second.push_back(all.back());
        }
    }
    result.write();
    if (world_rank() != 0) return 0;
    std::printf("\n%d ranks\n", world_size());
    for (auto const& [name, of] : each) print_mean(s, name.c_str(), of);
    print_mean(s, "all", all);
    return 0;
}

} // namespace

void add_beside(program& all) {
    auto const s = std::make_shared<settings>();
    auto& app = all.add("beside", "All collectives by default, beside the MPI library's own",
                        MPI_THREAD_SINGLE, [s] { return run(*s); });
    s->call.add_to(app);
    s->call.add_calls(app);
    add_option(app, "--touch", s->touch, "KiB of its own that each rank goes through before each time",
               not_negative);
    add_flag(app, "--plans", s->plans, "plans, too, on buffers of the caller's and on buffers of their own");
    add_flag(app, "--strings", s->strings,
             "a string on each rank, beside Boost.MPI's collectives of serialized values; without --plans");
}

} // namespace bench
