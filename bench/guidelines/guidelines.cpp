// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// papcoll-bench guidelines: measures all collectives of papcoll and of the MPI library, and says which
// self-consistent performance guidelines they violate.
#include <papcoll/core.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "../beside/calls.hpp"
#include "../support/document.hpp"
#include "../support/program.hpp"
#include "judge.hpp"

namespace bench {
namespace {

struct settings {
    call_settings call{.sizes = parse_sizes({"8:4Mi"}),
                       .repeat = {.warm_up = 3, .repetitions = 9, .narrow = 0.02, .seconds = 4}};
    std::vector<int> ranks = {};
    guidelines::limits limits;
    double tolerance = 1;
};

struct measured_call : contestant {
    guidelines::call what;
};

/// Those that are wanted, and those that they are compared with.
auto calls_of(std::vector<std::string> const& wanted) -> std::vector<measured_call> {
    std::set<std::string> needed(wanted.begin(), wanted.end());
    for (auto const& c : guidelines::compositions)
        if (std::find(wanted.begin(), wanted.end(), c.operation) != wanted.end())
            needed.insert({std::string(c.first), std::string(c.second)});
    std::vector<measured_call> all;
    for (auto const& each : all_collectives()) {
        if (!wanted.empty() && needed.count(each.name) == 0) continue;
        all.push_back({{each.papcoll}, {"papcoll", each.name}});
        all.push_back({{each.mpi}, {"mpi", each.name}});
    }
    return all;
}

/// All guidelines within the size are known so well; the same on all ranks.
auto is_narrow(guidelines::times const& at, settings const& s) -> bool {
    auto const all = guidelines::court(s.limits).judge_size(at);
    return std::all_of(all.begin(), all.end(),
                       [&](auto const& v) { return v.confidence.relative_width() <= s.call.repeat.narrow; });
}

auto measure(MPI_Comm comm, std::size_t bytes, settings const& s) -> guidelines::times {
    buffers b(comm, bytes);
    auto calls = calls_of(s.call.operations);
    std::vector<contestant*> all;
    for (auto& each : calls) all.push_back(&each);
    auto const measured = [&] {
        guidelines::times at;
        for (auto const& each : calls) at[each.what] = each.times;
        return at;
    };
    take_turns(b, all, s.call, [&](auto const&) { return is_narrow(measured(), s); });
    return measured();
}

auto violates(guidelines::times const& at, settings const& s) -> bool {
    auto const all = guidelines::court(s.limits).judge_size(at);
    return std::any_of(all.begin(), all.end(), [](auto const& v) { return v.is_violation(); });
}

/// What looks like a violation is measured once more, and the second measurement counts.
auto measure_carefully(MPI_Comm comm, std::size_t bytes, settings const& s) -> guidelines::times {
    auto const at = measure(comm, bytes, s);
    return agreed(comm, violates(at, s)) ? measure(comm, bytes, s) : at;
}

/// All ranks of the world meet. Those who wait leave their processors to those who still measure.
void meet_asleep() {
    MPI_Request all = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    for (int done = 0; MPI_Test(&all, &done, MPI_STATUS_IGNORE), done == 0;)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

auto measure_all(settings const& s) -> guidelines::measurements {
    guidelines::measurements all;
    std::size_t done = 0;
    auto const cells = s.ranks.size() * s.call.sizes.size();
    for (int const ranks : s.ranks) {
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Comm_split(MPI_COMM_WORLD, world_rank() < ranks ? 0 : MPI_UNDEFINED, world_rank(), &comm);
        if (comm != MPI_COMM_NULL) papcoll::attach(comm);
        std::size_t before = 0;
        for (auto const bytes : s.call.sizes) {
            show_progress(done++, cells, std::to_string(bytes) + " B on " + std::to_string(ranks) + " ranks");
            auto const real = guidelines::rounded(bytes, ranks);
            if (real != before && comm != MPI_COMM_NULL) all[ranks][bytes] = measure_carefully(comm, real, s);
            before = real;
        }
        if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
        meet_asleep();
    }
    show_progress(cells, cells, "");
    return all;
}

void print(std::vector<guidelines::verdict> const& all, settings const& s) {
    std::printf("%-8s %-15s %-26s %5s %8s %8s %17s %6s\n", "of", "operation", "guideline", "ranks", "bytes",
                "ratio", "95 %", "limit");
    for (auto const& v : all)
        if (v.is_violation())
            std::printf("%-8s %-15s %-26s %5d %8zu %8.2f %8.2f–%8.2f %6.2f\n", v.library.c_str(),
                        v.operation.c_str(), v.guideline.c_str(), v.ranks, v.bytes, v.ratio, v.confidence.low,
                        v.confidence.high, v.limit);
    std::printf("\n%-8s %-26s %8s %12s %8s\n", "of", "guideline", "cells", "violations", "worst");
    for (auto const& [key, t] : guidelines::count(all))
        std::printf("%-8s %-26s %8d %12d %8.2f\n", key.first.c_str(), key.second.c_str(), t.cells,
                    t.violations, t.worst);
    std::printf("\n%d ranks, %s; a violation is a ratio whose 95 %% interval is above the limit%s\n",
                world_size(), library_version().c_str(),
                s.tolerance > 1 ? ", with the --tolerance given" : "");
}

auto in_json(guidelines::verdict const& v) -> nlohmann::json {
    nlohmann::json j{{"guideline", v.guideline}, {"library", v.library},
                     {"operation", v.operation}, {"ranks", v.ranks},
                     {"bytes", v.bytes},         {"ratio", v.ratio},
                     {"limit", v.limit},         {"violation", v.is_violation()}};
    if (std::isfinite(v.confidence.high)) {
        j["low"] = v.confidence.low;
        j["high"] = v.confidence.high;
    }
    return j;
}

auto run(settings s) -> int {
    if (s.ranks.empty()) s.ranks = {world_size()};
    std::sort(s.call.sizes.begin(), s.call.sizes.end());
    for (int const ranks : s.ranks)
        if (ranks < 2 || ranks > world_size())
            throw std::invalid_argument("guidelines are for 2 ranks to the " + std::to_string(world_size()) +
                                        " that were started, not for " + std::to_string(ranks));
    for (auto* const limit :
         {&s.limits.library, &s.limits.composition, &s.limits.monotone, &s.limits.split, &s.limits.jump})
        *limit *= s.tolerance;
    auto const measured = measure_all(s);
    bool violated = false;
    if (world_rank() == 0) {
        auto const all = guidelines::court(s.limits).judge_all(measured);
        print(all, s);
        document result(
            s.call.json, "guidelines",
            {{"ranks", world_size()}, {"tolerance", s.tolerance}, {"seconds", s.call.repeat.seconds}});
        for (auto const& v : all) {
            result.add(in_json(v));
            violated = violated || (v.library == "papcoll" && v.is_violation());
        }
        result.write();
    }
    return agreed(MPI_COMM_WORLD, violated) ? 1 : 0;
}

} // namespace

void add_guidelines(program& all) {
    auto const s = std::make_shared<settings>();
    auto& app = all.add(
        "guidelines", "Performance guidelines that collectives must keep; ends with 1 where papcoll's do not",
        MPI_THREAD_SINGLE, [s] { return run(*s); });
    s->call.add_to(app);
    add_option(app, "--ranks", s->ranks, "on the first so many; default: on all");
    add_option(app, "--tolerance", s->tolerance, "a factor of all limits");
    add_option(app, "--limit-library", s->limits.library, "papcoll ÷ the MPI library");
    add_option(app, "--limit-composition", s->limits.composition, "a collective ÷ two that do the same");
    add_option(app, "--limit-monotone", s->limits.monotone, "m bytes ÷ more");
    add_option(app, "--limit-split", s->limits.split, "k m bytes ÷ k times m");
    add_option(app, "--limit-jump", s->limits.jump, "p + 1 ranks ÷ p");
}

} // namespace bench
