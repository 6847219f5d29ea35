// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// papcoll-bench model clairvoyant: what wrong predictions cost a Clairvoyant reduction in the one-ported
// model. Predictions are those of a monitor that goes by one report at half of a computation: twice the first
// half.
#include <papcoll/analysis/metrics.hpp>
#include <papcoll/analysis/simulate.hpp>
#include <papcoll/policy/clairvoyant.hpp>
#include <papcoll/scheduler/clairvoyant.hpp>

#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

#include "../run/arrivals.hpp"
#include "../support/document.hpp"
#include "model.hpp"

namespace bench {
namespace {

struct clairvoyant_settings {
    int ranks = 16, root = 0, segments = 0, repetitions = 1000;
    std::vector<std::size_t> sizes{65536, 524288, 4194304};
    std::vector<double> delays_ms{0, 50, 100};
    std::string pattern = "random", rate = "100mbit", json;
    double latency_us = 100, computation_ms = 100;
    variation vary{.anew = true, .delayed_ranks = 0, .computation = ticks{0}, .noise = 0.05};
    std::uint64_t seed = 1;
    bool in_bounds = false;
};

/// The last delay of a reduction of floats whose schedule was made for the arrivals that `policy` has, among
/// ranks that really arrive at `arrivals`; in ms.
auto last_delay(papcoll::clairvoyant const& policy, std::size_t count, int root,
                std::vector<ticks> const& arrivals, papcoll::link_model const& link) -> double {
    papcoll::call_shape shape{.operation = papcoll::collective_kind::reduce,
                              .ranks = static_cast<int>(arrivals.size()),
                              .root = root};
    shape.count = count;
    shape.element_bytes = sizeof(float);
    auto const chosen = policy.choose(shape, link);
    papcoll::problem p{.ranks = shape.ranks, .root = root, .blocks = chosen.segments};
    if (chosen.uses_arrivals) p.arrivals = policy.arrivals.times();
    std::vector<papcoll::transfer> schedule;
    papcoll::clairvoyant_scheduler<>{.round = chosen.round}.generate(
        p, [&](papcoll::transfer const& t) { schedule.push_back(t); });
    p.arrivals = arrivals;
    auto const bytes = papcoll::block_partition{count, chosen.segments}.largest() * sizeof(float);
    auto const exits = papcoll::simulate(schedule, p, {.latency = link.latency, .per_byte = link.per_byte},
                                         bytes, papcoll::schedule_kind::reduction);
    return static_cast<double>(papcoll::last_delay(arrivals, exits).count()) * 1e-6;
}

struct outcome {
    std::vector<double> with_true, predicted, blind, ratios;
};

auto simulate_case(clairvoyant_settings const& s, std::size_t count, ticks most) -> outcome {
    papcoll::link_model const link{ticks{std::llround(s.latency_us * 1e3)},
                                   parse_rate(s.rate).nanoseconds(1'000'000) * 1e-6};
    auto const shape = papcoll::arrival_shape_of(s.pattern);
    if (!shape) throw std::invalid_argument("no pattern " + s.pattern);
    auto const c = arrival_case::of_shape(*shape, 1, most, s.ranks, s.seed);
    auto vary = s.vary;
    vary.computation = ticks{std::llround(s.computation_ms * 1e6)};
    std::mt19937_64 random(s.seed);
    outcome found;
    for (int i = 0; i < s.repetitions; ++i) {
        auto const work = c.draw(vary, random);
        std::vector<ticks> expected;
        for (auto const& each : work) expected.push_back(2 * each.first_half);
        auto const delay = [&](papcoll::arrival_source known) {
            papcoll::clairvoyant policy{.arrivals = std::move(known), .round = {}, .segments = {}};
            if (s.segments > 0) policy.segments = s.segments;
            return last_delay(policy, count, s.root, times_of(work), link);
        };
        found.with_true.push_back(delay(times_of(work)));
        found.predicted.push_back(delay(expected));
        found.blind.push_back(delay({}));
    }
    found.ratios = ratios(found.predicted, found.with_true);
    return found;
}

auto run_clairvoyant(clairvoyant_settings const& s) -> int {
    document result(s.json, "model clairvoyant",
                    {{"ranks", s.ranks},
                     {"root", s.root},
                     {"seed", s.seed},
                     {"rate", s.rate},
                     {"pattern", s.pattern},
                     {"noise", s.vary.noise},
                     {"computation_ms", s.computation_ms}});
    std::printf(
        "Last delay of clairvoyant in the model, ms: arrivals true, predicted, unknown; predicted ÷ true\n"
        "%9s %8s %9s %9s %9s %9s %9s %9s\n",
        "bytes", "delays", "true", "predicted", "unknown", "median ÷", "p90 ÷", "largest ÷");
    for (auto const bytes : s.sizes)
        for (auto const delay : s.delays_ms) {
            double const ms = s.in_bounds ? delay * parse_rate(s.rate).nanoseconds(bytes) * 1e-6 : delay;
            auto const found = simulate_case(s, bytes / sizeof(float), ticks{std::llround(ms * 1e6)});
            std::printf("%9zu %8.1f %9.2f %9.2f %9.2f %9.2f %9.2f %9.2f\n", bytes, ms,
                        median(found.with_true), median(found.predicted), median(found.blind),
                        median(found.ratios), quantile(found.ratios, 0.9), quantile(found.ratios, 1));
            for (auto const& [policy, values] : {std::pair("clairvoyant@true", &found.with_true),
                                                 std::pair("clairvoyant@monitor", &found.predicted),
                                                 std::pair("clairvoyant@blind", &found.blind)})
                result.add({{"operation", "reduce"},
                            {"policy", policy},
                            {"bytes", bytes},
                            {"pattern", s.pattern},
                            {"magnitude_ms", ms},
                            {"last_delay_ms", in_json(statistics_of(*values))}});
        }
    result.write();
    return 0;
}

} // namespace

void add_model_clairvoyant(program& all, CLI::App& group) {
    auto const s = std::make_shared<clairvoyant_settings>();
    auto& app = all.add_to(group, "clairvoyant", "What wrong predictions cost a Clairvoyant reduction",
                           [s] { return run_clairvoyant(*s); });
    add_option(app, "--ranks", s->ranks, "", between(2, 100'000));
    add_sizes(app, s->sizes, "of the data");
    add_option(app, "--delays", s->delays_ms, "the most that a rank is late, in ms");
    add_flag(app, "--in-bounds", s->in_bounds, "delays count in times of the data on one link");
    add_option(app, "--pattern", s->pattern, "of the delays");
    add_option(app, "--delayed-ranks", s->vary.delayed_ranks, "so many are late; 0: all");
    add_option(app, "--computation", s->computation_ms, "of a rank without delay, in ms", not_negative);
    add_option(app, "--noise", s->vary.noise, "standard deviation of each half of a computation",
               between(0.0, 0.2));
    add_option(app, "--rate", s->rate, "of a link");
    add_option(app, "--latency-us", s->latency_us, "of a message");
    add_option(app, "--root", s->root, "", not_negative);
    add_option(app, "--segments", s->segments, "default: the policy's own choice");
    add_option(app, "--repetitions", s->repetitions, "", positive);
    add_seed(app, s->seed);
    add_json(app, s->json);
}

} // namespace bench
