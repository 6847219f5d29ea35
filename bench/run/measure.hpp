// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis/metrics.hpp>

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "../support/options.hpp"
#include "../support/start_together.hpp"
#include "../support/statistics.hpp"
#include "arrivals.hpp"
#include "operations.hpp"
#include "watcher.hpp"

namespace bench {

[[nodiscard]] inline auto milliseconds(ticks time) -> double {
    return static_cast<double>(time.count()) * 1e-6;
}

/// One repetition: when the ranks really came and left, from the agreed start on.
struct repetition {
    std::vector<ticks> planned;
    std::vector<ticks> arrivals;
    std::vector<ticks> exits;
    std::optional<double> prediction_error; ///< of the monitor, mean over the ranks, in ms

    [[nodiscard]] auto last_delay() const -> ticks { return papcoll::last_delay(arrivals, exits); }
    [[nodiscard]] auto run_time() const -> ticks { return papcoll::run_time(arrivals, exits); }
    [[nodiscard]] auto mean_elapsed() const -> ticks { return papcoll::mean_elapsed(arrivals, exits); }
};
using repetitions = std::vector<repetition>;

/// A metric over repetitions, in ms.
template <class Metric>
[[nodiscard]] auto values_of(repetitions const& runs, Metric metric) -> std::vector<double> {
    std::vector<double> values;
    for (auto const& run : runs) values.push_back(milliseconds((run.*metric)()));
    return values;
}
template <class Metric>
[[nodiscard]] auto summarise(repetitions const& runs, Metric metric) -> statistics {
    return statistics_of(values_of(runs, metric));
}

/// The repetition whose last delay is the median.
[[nodiscard]] inline auto typical(repetitions const& runs) -> repetition const& {
    auto const middle = median(values_of(runs, &repetition::last_delay));
    return *std::find_if(runs.begin(), runs.end(), [&](auto const& run) {
        return !(milliseconds(run.last_delay()) < middle) && !(milliseconds(run.last_delay()) > middle);
    });
}

/// What takes part: "POLICY", or "POLICY@SOURCE" with where it has the arrivals from.
struct contender {
    std::string name;
    std::string policy;
    std::string source = "true";

    explicit contender(std::string text)
        : name(std::move(text))
        , policy(name.substr(0, name.find('@'))) {
        if (policy.size() < name.size()) source = name.substr(policy.size() + 1);
        for (auto const* known : {"true", "blind", "reversed", "random", "constant", "monitor", "silent"})
            if (source == known) return;
        throw std::invalid_argument("no source of arrivals " + source);
    }
    /// By the monitor, to which the last rank of a "silent" one reports nothing.
    [[nodiscard]] auto is_predicted() const -> bool { return source == "monitor" || source == "silent"; }
    /// Begun before the computation.
    [[nodiscard]] auto is_open() const -> bool { return policy.rfind("open:", 0) == 0; }
};

/// By the names of the contenders; complete on rank 0 alone.
using results = std::map<std::string, repetitions>;

/// Measures contenders in turn, each time another one first, so that drift of the machine meets all alike.
/// All see the same computations.
class stage {
public:
    struct settings {
        effort repeat = {};
        variation vary = {};
        bool work = false; ///< compute really, instead of sleeping
        bool reports_alone = true;
        ticks patience{0}; ///< of the monitor
        std::uint64_t seed = 1;
    };

    stage(MPI_Comm comm, settings const& s, std::vector<contender> const& contenders)
        : m_comm(comm)
        , m_settings(s) {
        MPI_Comm_rank(comm, &m_rank);
        MPI_Comm_size(comm, &m_ranks);
#ifndef SMPI_H
        if (s.work) m_worker.calibrate();
        if (std::any_of(contenders.begin(), contenders.end(), [](auto const& c) { return c.is_predicted(); }))
            m_watcher = make_watcher(comm, s.reports_alone, s.patience);
#else
        if (s.work ||
            std::any_of(contenders.begin(), contenders.end(), [](auto const& c) { return c.is_predicted(); }))
            throw std::invalid_argument("simulated ranks neither work nor have a monitor");
#endif
    }

    /// Throws on all ranks if a result is wrong on any.
    auto measure(operation& op, std::vector<contender> order, arrival_case const& c, int warm_up) -> results {
        std::mt19937_64 random(m_settings.seed);
        results all;
        auto const begin = now();
        for (int i = simulated ? 0 : -warm_up; i < 0 || goes_on(all, i, begin); ++i) {
            auto const work = c.draw(m_settings.vary, random);
            for (auto const& each : order) {
                auto run = run_once(op, each, work, random);
                if (i >= 0) all[each.name].push_back(std::move(run));
            }
            std::rotate(order.begin(), order.begin() + 1, order.end());
        }
        return all;
    }

    auto run_once(operation& op, contender const& c, std::vector<computation> const& work,
                  std::mt19937_64& random) -> repetition {
        auto const planned = times_of(work);
        auto const last = std::max_element(planned.begin(), planned.end()) - planned.begin();
        auto known = told(c.source, planned, random);
        bool const reports = c.source == "monitor" || (c.source == "silent" && m_rank != last);
        auto const& mine = work[static_cast<std::size_t>(m_rank)];
        op.spoil();
        if (!c.is_predicted()) op.prepare(c.policy, known);

        auto const start = agree_on_start(m_comm);
        if (m_watcher || m_settings.work || c.is_open()) wait_until(start);
        papcoll::arrival_source asked;
        if (c.is_open() && c.is_predicted()) op.prepare_open(c.policy, asked = m_watcher->ask());
        if (c.is_open() || !c.is_predicted()) op.begin();
        if (reports) m_watcher->begin();
        if (reports || m_settings.work) compute(op, start + mine.first_half, mine.first_half);
        if (reports) m_watcher->progress(0.5);
        compute(op, start + mine.all(), m_settings.work ? mine.second_half : mine.all());
        if (reports) m_watcher->end();
        auto const arrival = now();
        if (c.is_predicted() && !c.is_open()) op.prepare(c.policy, known = m_watcher->arrivals());
        op.run();
        auto const exit = now();
        if (c.is_predicted() && c.is_open()) known.assign(asked.times().begin(), asked.times().end());

        int right = op.correct() ? 1 : 0;
        MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, m_comm);
        if (right == 0) throw std::runtime_error("the result of " + c.name + " is wrong");
        auto done = collect(arrival - start, exit - start);
        done.planned = planned;
        if (c.is_predicted() && !known.empty() && m_rank == 0) {
            double error = 0;
            for (std::size_t r = 0; r < known.size(); ++r)
                error += std::abs(milliseconds(known[r] - start - done.arrivals[r]));
            done.prediction_error = error / m_ranks;
        }
        return done;
    }

private:
    void compute(operation& op, ticks until, ticks duration) {
#ifndef SMPI_H
        (void)op;
        if (m_settings.work) return m_worker.work(duration);
        wait_until(until);
#else
        (void)duration;
        constexpr ticks between_looks = std::chrono::microseconds(50);
        for (auto next = now() + between_looks; next < until; next = now() + between_looks) {
            op.advance();
            wait_until(next);
        }
        wait_until(until);
#endif
    }

    /// The same on all ranks: rank 0 decides.
    [[nodiscard]] auto goes_on(results const& all, int done, ticks begin) const -> bool {
        auto const& wanted = m_settings.repeat;
        if (done < wanted.repetitions) return true;
        if (simulated || !(wanted.narrow > 0)) return false;
        int more = 0;
        if (m_rank == 0 && milliseconds(now() - begin) < wanted.seconds * 1e3)
            for (auto const& [name, runs] : all) {
                auto const delays = values_of(runs, &repetition::last_delay);
                if (median_interval(delays).relative_width() > wanted.narrow) more = 1;
            }
        MPI_Bcast(&more, 1, MPI_INT, 0, m_comm);
        return more != 0;
    }

    [[nodiscard]] auto collect(ticks arrival, ticks exit) const -> repetition {
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

    MPI_Comm m_comm;
    settings m_settings;
    int m_rank = 0;
    int m_ranks = 1;
    std::unique_ptr<watcher> m_watcher;
#ifndef SMPI_H
    worker m_worker;
#endif
};

} // namespace bench
