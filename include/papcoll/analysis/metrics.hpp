// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

/// The measures by which collectives are compared under process arrival patterns. Throughout, a_r and f_r are
/// the times at which rank r enters and leaves the operation, the entries of `arrivals` and `exits`, on one
/// clock of any origin. Every function throws std::invalid_argument for no ranks, unequal numbers of arrivals
/// and exits, and a time to divide by that is not positive. Differences and sums of the times must fit into
/// ticks.
namespace papcoll::inline v0 {

namespace detail {

inline void require_ranks(std::span<ticks const> arrivals) {
    if (arrivals.empty())
        throw std::invalid_argument("papcoll: arrivals must have one entry per rank, but are empty");
}

inline void require_pairs(std::span<ticks const> arrivals, std::span<ticks const> exits) {
    require_ranks(arrivals);
    if (arrivals.size() != exits.size())
        throw std::invalid_argument("papcoll: arrivals and exits must have one entry per rank, but have " +
                                    std::to_string(arrivals.size()) + " and " + std::to_string(exits.size()));
}

inline auto latest(std::span<ticks const> times) -> ticks {
    return *std::max_element(times.begin(), times.end());
}
inline auto earliest(std::span<ticks const> times) -> ticks {
    return *std::min_element(times.begin(), times.end());
}

} // namespace detail

/// Imbalance ω = max a − min a (Proficz 2021, equation 1).
[[nodiscard]] inline auto imbalance(std::span<ticks const> arrivals) -> ticks {
    detail::require_ranks(arrivals);
    return detail::latest(arrivals) - detail::earliest(arrivals);
}

/// Imbalance factor ω ÷ τ, where τ = `transfer_time` > 0 is that of one message of the operation. Arrivals
/// count as imbalanced from 1 on.
[[nodiscard]] inline auto imbalance_factor(std::span<ticks const> arrivals, ticks transfer_time) -> double {
    detail::require(transfer_time.count() > 0, "transfer_time must be positive", transfer_time.count());
    return static_cast<double>(imbalance(arrivals).count()) / static_cast<double>(transfer_time.count());
}

/// Run time: max f − min a (Proficz 2021, equation 3).
[[nodiscard]] inline auto run_time(std::span<ticks const> arrivals, std::span<ticks const> exits) -> ticks {
    detail::require_pairs(arrivals, exits);
    return detail::latest(exits) - detail::earliest(arrivals);
}

/// Total delay d*, which is what studies of arrival patterns call the run time: max f − min a.
[[nodiscard]] inline auto total_delay(std::span<ticks const> arrivals, std::span<ticks const> exits)
    -> ticks {
    return run_time(arrivals, exits);
}

/// Last delay: max f − max a, what the operation costs once nobody is missing.
[[nodiscard]] inline auto last_delay(std::span<ticks const> arrivals, std::span<ticks const> exits) -> ticks {
    detail::require_pairs(arrivals, exits);
    return detail::latest(exits) - detail::latest(arrivals);
}

/// Elapsed times e_r = f_r − a_r, which the ranks spend in the operation.
[[nodiscard]] inline auto elapsed(std::span<ticks const> arrivals, std::span<ticks const> exits)
    -> std::vector<ticks> {
    detail::require_pairs(arrivals, exits);
    std::vector<ticks> times(exits.begin(), exits.end());
    for (std::size_t rank = 0; rank < arrivals.size(); ++rank) times[rank] -= arrivals[rank];
    return times;
}

/// Mean elapsed time (Proficz 2021, equation 2): the mean over the ranks of f_r − a_r, rounded towards zero
/// to whole ticks.
[[nodiscard]] inline auto mean_elapsed(std::span<ticks const> arrivals, std::span<ticks const> exits)
    -> ticks {
    detail::require_pairs(arrivals, exits);
    ticks sum{0};
    for (std::size_t rank = 0; rank < arrivals.size(); ++rank) sum += exits[rank] - arrivals[rank];
    return sum / static_cast<ticks::rep>(arrivals.size());
}

/// Absorption time A = r′ − r + ω, where r′ = `balanced_run_time` is that of the same operation when all
/// ranks arrive together and r the one of these arrivals (Proficz 2021, equation 4). With d and d′ the last
/// delays, this is A = d′ − d: how much of its work the operation did before the last rank arrived. Negative
/// when the imbalance makes it slower.
[[nodiscard]] inline auto absorption(std::span<ticks const> arrivals, std::span<ticks const> exits,
                                     ticks balanced_run_time) -> ticks {
    return balanced_run_time - run_time(arrivals, exits) + imbalance(arrivals);
}

/// Robustness d ÷ d′ − 1, where d′ = `balanced_last_delay` > 0 is that of all ranks arriving together and d
/// the one of these arrivals: below −0.25 the algorithm absorbs the pattern, above 0.25 it suffers from it.
[[nodiscard]] inline auto robustness(std::span<ticks const> arrivals, std::span<ticks const> exits,
                                     ticks balanced_last_delay) -> double {
    detail::require(balanced_last_delay.count() > 0, "balanced_last_delay must be positive",
                    balanced_last_delay.count());
    return static_cast<double>(last_delay(arrivals, exits).count()) /
               static_cast<double>(balanced_last_delay.count()) -
           1.0;
}

/// Last delay ÷ the least that any algorithm could have, `bound` > 0: how far from the best possible.
[[nodiscard]] inline auto delay_over_bound(std::span<ticks const> arrivals, std::span<ticks const> exits,
                                           ticks bound) -> double {
    detail::require(bound.count() > 0, "bound must be positive", bound.count());
    return static_cast<double>(last_delay(arrivals, exits).count()) / static_cast<double>(bound.count());
}

} // namespace papcoll::inline v0
