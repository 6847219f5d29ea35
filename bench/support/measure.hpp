// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis/metrics.hpp>

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "operations.hpp"
#include "start_together.hpp"

namespace bench {

/// One repetition: when the ranks really came and left, from the agreed start on.
struct repetition {
    std::vector<ticks> arrivals;
    std::vector<ticks> exits;

    [[nodiscard]] auto last_delay() const -> ticks { return papcoll::last_delay(arrivals, exits); }
    [[nodiscard]] auto run_time() const -> ticks { return papcoll::run_time(arrivals, exits); }
    [[nodiscard]] auto mean_elapsed() const -> ticks { return papcoll::mean_elapsed(arrivals, exits); }
};

struct summary {
    ticks median{0};
    ticks least{0};
    ticks most{0};
};

/// Of a metric over repetitions, of which there is at least one; of an even number the lower median.
template <class Metric>
auto summarise(std::vector<repetition> const& runs, Metric metric) -> summary {
    std::vector<ticks> values;
    values.reserve(runs.size());
    for (auto const& run : runs) values.push_back((run.*metric)());
    std::sort(values.begin(), values.end());
    return {values[(values.size() - 1) / 2], values.front(), values.back()};
}

/// The repetition whose last delay is the median.
inline auto typical(std::vector<repetition> const& runs) -> repetition const& {
    auto const median = summarise(runs, &repetition::last_delay).median;
    return *std::find_if(runs.begin(), runs.end(),
                         [&](auto const& run) { return run.last_delay() == median; });
}

/// Runs one repetition on all ranks; its times are complete on rank 0 alone. Throws on all ranks if the
/// result is wrong on any.
inline auto run_once(MPI_Comm comm, operation& op, std::string const& policy,
                     std::vector<ticks> const& arrivals) -> repetition {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    op.prepare(policy, arrivals);
    auto const start = agree_on_start(comm);
    wait_until(start + arrivals[static_cast<std::size_t>(rank)]);
    auto const arrival = now();
    op.run();
    auto const exit = now();

    std::array<std::int64_t, 2> const mine{(arrival - start).count(), (exit - start).count()};
    std::vector<std::int64_t> all(2 * arrivals.size());
    MPI_Gather(mine.data(), 2, MPI_INT64_T, all.data(), 2, MPI_INT64_T, 0, comm);
    int right = op.correct() ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, comm);
    if (right == 0) throw std::runtime_error("the result of " + policy + " is wrong");

    repetition done;
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
        done.arrivals.emplace_back(all[2 * i]);
        done.exits.emplace_back(all[2 * i + 1]);
    }
    return done;
}

using results = std::map<std::string, std::vector<repetition>>;

/// Unmeasured rounds (none where time is simulated), then `repetitions` of all policies in turn, each time
/// another one first: drift of the machine meets all alike.
inline auto measure(MPI_Comm comm, operation& op, std::vector<std::string> order,
                    std::vector<ticks> const& arrivals, int repetitions, int unmeasured = 1) -> results {
    results all;
    if constexpr (!simulated) // simulated times repeat exactly from the first on
        for (int i = 0; i < unmeasured; ++i)
            for (auto const& policy : order) (void)run_once(comm, op, policy, arrivals);
    for (int i = 0; i < repetitions; ++i) {
        for (auto const& policy : order) all[policy].push_back(run_once(comm, op, policy, arrivals));
        std::rotate(order.begin(), order.begin() + 1, order.end());
    }
    return all;
}

} // namespace bench
