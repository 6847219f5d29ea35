// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/patterns.hpp>
#include <papcoll/arrival/predictors/linear_extrapolation.hpp>
#include <papcoll/monitor/arrival_monitor.hpp>

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "measure.hpp"
#include "reduce_mini_algorithms.hpp"

namespace bench {

struct mini_settings {
    papcoll::arrival_shape shape = papcoll::arrival_shape::random;
    int delayed_ranks = 0; ///< 0: all
    double computation_ms = 100;
    double noise = 0.05;
    bool work = false;
    int iterations = 10;
    std::uint64_t seed = 1;
    int root = 0;
    int segments = 0;
    bool reports_alone = true; ///< the monitor predicts from this iteration's reports, not from others before
};

/// papcoll's monitor with either predictor.
class watcher {
public:
    virtual ~watcher() = default;
    virtual void begin() = 0;
    virtual void progress(double fraction) = 0;
    virtual void end() = 0;
    [[nodiscard]] virtual auto arrivals() -> papcoll::arrival_source = 0;
};
template <class Predictor>
class watcher_by final : public watcher {
public:
    explicit watcher_by(MPI_Comm comm)
        : m_monitor(comm, {.clock = [] { return shared_time::instance().clock().local_now(); }}) {}
    void begin() override { m_monitor.computation_begin(); }
    void progress(double fraction) override { m_monitor.progress(fraction); }
    void end() override { m_monitor.computation_end(); }
    [[nodiscard]] auto arrivals() -> papcoll::arrival_source override { return m_monitor.arrivals(); }

private:
    papcoll::basic_arrival_monitor<papcoll::mpi_transport, Predictor> m_monitor;
};

/// An algorithm, and where it has the arrivals from: "monitor", or "true", "blind", "reversed", "random",
/// "constant", "silent"; "" for those that do not want them.
struct contestant {
    std::string name;
    reduction_algorithm algorithm;
    std::string source;

    /// The monitor's.
    [[nodiscard]] auto is_predicted() const -> bool { return source == "monitor" || source == "silent"; }
};

/// Of "NAME" or "NAME:SOURCE". Throws std::invalid_argument for what there is not.
[[nodiscard]] inline auto contestant_named(std::string const& name,
                                           std::vector<reduction_algorithm> const& known) -> contestant {
    auto const colon = name.find(':');
    auto const base = name.substr(0, colon);
    auto const found =
        std::find_if(known.begin(), known.end(), [&](auto const& a) { return a.name == base; });
    if (found == known.end()) throw std::invalid_argument("no algorithm " + base);
    if (!found->aware && colon != std::string::npos)
        throw std::invalid_argument(base + " does not want the arrivals");
    std::string source = !found->aware ? "" : colon == std::string::npos ? "monitor" : name.substr(colon + 1);
    for (auto const* each : {"", "monitor", "true", "blind", "reversed", "random", "constant", "silent"})
        if (source == each) return {name, *found, source};
    throw std::invalid_argument("no source of arrivals " + source);
}

/// What one rank computes, the same as all others know it.
struct computation {
    ticks first_half;
    ticks second_half;

    [[nodiscard]] auto all() const -> ticks { return first_half + second_half; }
};

/// What the ranks compute in one iteration; equal seeds give equal ones.
[[nodiscard]] inline auto draw_computations(mini_settings const& s, int ranks, ticks most_delay,
                                            std::mt19937_64& random) -> std::vector<computation> {
    auto delays = papcoll::arrival_pattern(s.shape, ranks, most_delay, random());
    if (s.delayed_ranks > 0) {
        std::vector<std::size_t> order(delays.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::shuffle(order.begin(), order.end(), random);
        for (auto i = static_cast<std::size_t>(s.delayed_ranks); i < order.size(); ++i)
            delays[order[i]] = ticks{0};
    }
    std::normal_distribution<> noise(1, s.noise > 0 ? s.noise : 1);
    auto const vary = [&](double half) {
        return ticks{std::llround(half * (s.noise > 0 ? std::clamp(noise(random), 0.1, 1.9) : 1))};
    };
    std::vector<computation> all;
    for (auto const delay : delays) {
        double const half = s.computation_ms * 0.5e6 + static_cast<double>(delay.count()) / 2;
        auto const first = vary(half);
        all.push_back({first, vary(half)});
    }
    return all;
}

struct mini_result {
    std::string name;
    std::string base_name;
    std::string source;
    std::vector<repetition> runs;
    /// By how much the monitor was wrong: mean over the ranks, in ms, of each iteration with predictions.
    std::vector<double> prediction_errors;
};

/// In ms.
struct spread {
    double mean = 0, deviation = 0, median = 0, low = 0, high = 0; ///< low, high: tenth, ninetieth percentile
};

[[nodiscard]] inline auto mean(std::vector<double> const& values) -> double {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}
/// The k-th of n sorted values for the rounded-down k = q (n − 1).
[[nodiscard]] inline auto quantile(std::vector<double> values, double q) -> double {
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}
template <class Metric>
[[nodiscard]] auto spread_of(mini_result const& result, Metric metric) -> spread {
    std::vector<double> values;
    for (auto const& run : result.runs) values.push_back(static_cast<double>((run.*metric)().count()) * 1e-6);
    spread s{.mean = mean(values)};
    for (auto const v : values)
        s.deviation += (v - s.mean) * (v - s.mean) / static_cast<double>(values.size());
    s.deviation = std::sqrt(s.deviation);
    s.median = quantile(values, 0.5);
    s.low = quantile(values, 0.1);
    s.high = quantile(std::move(values), 0.9);
    return s;
}

/// The results with true arrivals, by the name of the algorithm.
[[nodiscard]] inline auto true_delays(std::vector<mini_result> const& all)
    -> std::map<std::string, mini_result const*> {
    std::map<std::string, mini_result const*> found;
    for (auto const& m : all)
        if (m.source == "true") found[m.base_name] = &m;
    return found;
}
/// Median over the iterations of this last delay ÷ the other's, with the same delays in both.
[[nodiscard]] inline auto paired_ratio(mini_result const& of, mini_result const* to)
    -> std::optional<double> {
    if (to == nullptr) return std::nullopt;
    std::vector<double> ratios;
    for (std::size_t i = 0; i < of.runs.size(); ++i)
        ratios.push_back(static_cast<double>(of.runs[i].last_delay().count()) /
                         static_cast<double>(to->runs[i].last_delay().count()));
    return quantile(std::move(ratios), 0.5);
}

[[nodiscard]] inline auto values_of(int rank, std::size_t n) -> std::vector<float> {
    std::vector<float> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = value_of(rank, i);
    return values;
}
[[nodiscard]] inline auto sums_of(int ranks, std::size_t n) -> std::vector<float> {
    std::vector<float> sums(n);
    for (std::size_t i = 0; i < n; ++i) sums[i] = sum_of(ranks, i);
    return sums;
}

/// Busy for about as long as it is told, by an amount of work that was calibrated once.
class worker {
public:
    void calibrate() {
        constexpr std::uint64_t probe = 5'000'000;
        auto best = std::numeric_limits<std::int64_t>::max();
        for (int i = 0; i < 5; ++i) {
            auto const begin = papcoll::steady_now();
            spin(probe);
            best = std::min(best, std::int64_t{(papcoll::steady_now() - begin).count()});
        }
        m_steps_per_ns = static_cast<double>(probe) / static_cast<double>(best);
    }
    void work(ticks duration) {
        spin(static_cast<std::uint64_t>(m_steps_per_ns * static_cast<double>(duration.count())));
    }

private:
    void spin(std::uint64_t steps) {
        auto x = m_state;
        for (std::uint64_t i = 0; i < steps; ++i) x = x * 6364136223846793005U + 1442695040888963407U;
        m_state = x; // volatile: the work is not removed
    }

    volatile std::uint64_t m_state = 1;
    double m_steps_per_ns = 1;
};

/// Measures contestants in turn, each time another one first; all see the same computations.
class mini_benchmark {
public:
    mini_benchmark(MPI_Comm comm, mini_settings const& settings, std::vector<contestant> const& contestants,
                   bool all_have_result)
        : m_comm(comm)
        , m_settings(settings)
        , m_contestants(contestants)
        , m_all_have_result(all_have_result) {
        MPI_Comm_rank(comm, &m_rank);
        MPI_Comm_size(comm, &m_ranks);
        if (settings.work) m_worker.calibrate();
        (void)agree_on_start(comm); // from here on there is a clock
        if (std::none_of(m_contestants.begin(), m_contestants.end(),
                         [](auto const& c) { return c.is_predicted(); }))
            return;
        if (settings.reports_alone)
            m_monitor = std::make_unique<watcher_by<papcoll::linear_extrapolation>>(comm);
        else
            m_monitor = std::make_unique<watcher_by<papcoll::default_predictor>>(comm);
    }

    /// One uncounted iteration, then the counted ones; complete on rank 0 alone.
    auto run(std::size_t size, ticks most_delay) -> std::vector<mini_result> {
        m_in = values_of(m_rank, size);
        m_sums = sums_of(m_ranks, size);
        std::mt19937_64 random(m_settings.seed);
        std::vector<mini_result> all;
        for (auto const& c : m_contestants) all.push_back({c.name, c.algorithm.name, c.source, {}, {}});
        for (int i = -1; i < m_settings.iterations; ++i) {
            auto const work = draw_computations(m_settings, m_ranks, most_delay, random);
            for (std::size_t k = 0; k < m_contestants.size(); ++k) {
                auto const turn = (k + static_cast<std::size_t>(i + 1)) % m_contestants.size();
                iterate(m_contestants[turn], work, random, i >= 0 ? &all[turn] : nullptr);
            }
        }
        return all;
    }

private:
    /// What a contestant without the monitor is told.
    auto told(std::string const& source, std::vector<ticks> times, std::mt19937_64& random) const
        -> papcoll::arrival_source {
        auto const [least, most] = std::minmax_element(times.begin(), times.end());
        auto const sum = *least + *most;
        if (source == "" || source == "blind") return {};
        if (source == "reversed")
            for (auto& t : times) t = sum - t;
        else if (source == "random")
            std::shuffle(times.begin(), times.end(), random);
        else if (source == "constant")
            times.assign(times.size(), *least);
        return times;
    }

    void compute(ticks start, ticks until, ticks duration) {
        if (m_settings.work)
            m_worker.work(duration);
        else
            wait_until(start + until);
    }

    void iterate(contestant const& c, std::vector<computation> const& work, std::mt19937_64& random,
                 mini_result* result) {
        std::vector<ticks> planned;
        for (auto const& w : work) planned.push_back(w.all());
        auto const last = std::max_element(planned.begin(), planned.end()) - planned.begin();
        auto arrivals = told(c.source, planned, random);
        bool const reports = c.source == "monitor" || (c.source == "silent" && m_rank != last);
        auto const& mine = work[static_cast<std::size_t>(m_rank)];
        m_out.assign(m_in.size(), std::numeric_limits<float>::quiet_NaN());

        auto const start = agree_on_start(m_comm);
        wait_until(start);
        if (reports) m_monitor->begin();
        compute(start, mine.first_half, mine.first_half);
        if (reports) m_monitor->progress(0.5);
        compute(start, mine.all(), mine.second_half);
        if (reports) m_monitor->end();
        auto const arrival = now();
        if (c.is_predicted()) arrivals = m_monitor->arrivals();
        auto const segments =
            m_settings.segments > 0 ? std::optional<int>(m_settings.segments) : std::optional<int>();
        c.algorithm.run({m_comm, m_settings.root, m_in, m_out, arrivals, segments});
        auto const exit = now();

        check(c);
        auto const run = collect(arrival - start, exit - start);
        if (m_rank != 0 || result == nullptr) return;
        result->runs.push_back(run);
        if (c.is_predicted() && arrivals.given()) {
            double error = 0;
            for (std::size_t r = 0; r < run.arrivals.size(); ++r)
                error +=
                    std::abs(static_cast<double>((arrivals.times()[r] - start - run.arrivals[r]).count()));
            result->prediction_errors.push_back(error * 1e-6 / m_ranks);
        }
    }
    auto collect(ticks arrival, ticks exit) const -> repetition {
        std::array<std::int64_t, 2> const mine{arrival.count(), exit.count()};
        std::vector<std::int64_t> all(2 * static_cast<std::size_t>(m_ranks));
        MPI_Gather(mine.data(), 2, MPI_INT64_T, all.data(), 2, MPI_INT64_T, 0, m_comm);
        repetition run;
        for (std::size_t i = 0; i < all.size(); i += 2) {
            run.arrivals.emplace_back(all[i]);
            run.exits.emplace_back(all[i + 1]);
        }
        return run;
    }
    void check(contestant const& c) const {
        int right = (!m_all_have_result && m_rank != m_settings.root) || m_out == m_sums ? 1 : 0;
        MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, m_comm);
        if (right == 0) throw std::runtime_error("the result of " + c.name + " is wrong");
    }

    MPI_Comm m_comm;
    mini_settings m_settings;
    std::vector<contestant> m_contestants;
    bool m_all_have_result;
    int m_rank = 0;
    int m_ranks = 1;
    std::unique_ptr<watcher> m_monitor;
    worker m_worker;
    std::vector<float> m_in, m_out, m_sums;
};

} // namespace bench
