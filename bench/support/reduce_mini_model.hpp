// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis/metrics.hpp>
#include <papcoll/analysis/simulate.hpp>
#include <papcoll/policy/clairvoyant.hpp>
#include <papcoll/scheduler/clairvoyant.hpp>

#include <cstddef>
#include <vector>

namespace bench {

/// The last delay that the one-ported model gives for a Clairvoyant reduction of floats whose schedule was
/// made for the arrivals that `policy` has, among ranks that really arrive at `arrivals`.
[[nodiscard]] inline auto modelled_last_delay(papcoll::clairvoyant const& policy, std::size_t count, int root,
                                              std::vector<papcoll::ticks> const& arrivals,
                                              papcoll::link_model const& link) -> papcoll::ticks {
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
    return papcoll::last_delay(arrivals, exits);
}

} // namespace bench
