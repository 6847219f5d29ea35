// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// papcoll-bench model speed: how long `simulate` takes per transfer. Prints for each schedule the number of
// transfers and the least and median time of a call, per transfer.
#include <papcoll/analysis/simulate.hpp>
#include <papcoll/scheduler/circulant.hpp>
#include <papcoll/scheduler/clairvoyant.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <random>
#include <vector>

#include "model.hpp"

namespace bench {
namespace {

using papcoll::problem;
using papcoll::ticks;

template <class Scheduler>
void measure(char const* name, Scheduler const& s, problem const& p, int repetitions) {
    papcoll::cost_model const model{
        .latency = ticks{2000}, .per_byte = 0.1, .compute = ticks{100}, .compute_per_byte = 0.02};
    auto const schedule = papcoll::transfers(s, p);
    std::vector<double> per_transfer;
    ticks last{};
    for (int i = 0; i < repetitions; ++i) {
        auto const begin = std::chrono::steady_clock::now();
        auto const exits = papcoll::simulate(schedule, p, model, 16384, Scheduler::kind);
        std::chrono::duration<double, std::micro> const took = std::chrono::steady_clock::now() - begin;
        per_transfer.push_back(took.count() / static_cast<double>(std::max<std::size_t>(schedule.size(), 1)));
        last = *std::max_element(exits.begin(), exits.end());
    }
    std::sort(per_transfer.begin(), per_transfer.end());
    std::printf("%-22s %8d %7d %10zu %9.3f %9.3f   %.3f ms\n", name, p.ranks, p.blocks, schedule.size(),
                per_transfer.front(), per_transfer[per_transfer.size() / 2],
                static_cast<double>(last.count()) / 1e6);
}

auto run(int ranks, int repetitions) -> int {
    std::mt19937_64 random(1);
    std::vector<ticks> arrivals(static_cast<std::size_t>(ranks));
    for (auto& arrival : arrivals) arrival = ticks{static_cast<ticks::rep>(random() % 1'000'000)};
    std::printf("%-22s %8s %7s %10s %9s %9s   %s\n", "schedule", "ranks", "blocks", "transfers", "least us",
                "median us", "last exit");
    for (int const blocks : {1, 16, 64}) {
        problem const p{.ranks = ranks, .root = 0, .blocks = blocks, .arrivals = arrivals, .owners = {}};
        measure("circulant broadcast", papcoll::circulant_scheduler{}, p, repetitions);
        measure("circulant reduction", papcoll::circulant_reduction_scheduler{}, p, repetitions);
        measure("clairvoyant", papcoll::clairvoyant_scheduler<>{.round = ticks{4100}}, p, repetitions);
    }
    return 0;
}

} // namespace

void add_model_speed(program& all, CLI::App& group) {
    struct settings {
        int ranks = 10'000, repetitions = 5;
    };
    auto const s = std::make_shared<settings>();
    auto& app = all.add_to(group, "speed", "How long the model takes per transfer",
                           [s] { return run(s->ranks, s->repetitions); });
    add_option(app, "--ranks", s->ranks, "", positive);
    add_option(app, "--repetitions", s->repetitions, "", positive);
}

} // namespace bench
