// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/scheduler.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>

namespace papcoll::inline v0 {

/// A dissemination that begins before all ranks have their data. For `S const s`, `problem const p`:
///
///  1. S is a scheduler of kind dissemination.
///  2. `s.pre_steps(p)` is the number k of its steps that are meant to be over when the last rank arrives:
///     the steps 0 … k − 1, in which nothing moves that it owns. 0 when all arrive together.
///
/// Pre-steps are ordinary steps, and an executor need not know which they are. What it must do is take part
/// for a rank that has not arrived, in a background thread or otherwise, from the first arrival on:
///
///  - a receive needs the place where the block ends up, and not the rank's own data;
///  - a send of a block that others own needs the receive of that block, and not the rank's own data;
///  - a send of a block that the rank owns needs its arrival (`contribute` in split-phase calls). Sends go in
///    step order, so it holds back the rank's later sends; the receives go on.
///
/// A rank whose executor does nothing before its arrival still gets everything; only the time saved is lost,
/// and likewise when arrivals differ from those predicted.
template <class S>
concept background_scheduler = scheduler<S> && requires(S const& s, problem const& p) {
    requires(S::kind == schedule_kind::dissemination);
    { s.pre_steps(p) } -> std::same_as<step_type>;
};

/// The first step in which `rank` sends what it owns; what its share has before that step, and the receives
/// from then on, can be done before it arrives. The largest step_type if it never does.
[[nodiscard]] inline auto first_own_step(rank_schedule const& share, problem const& p, int rank)
    -> step_type {
    auto const own = std::find_if(share.sends.begin(), share.sends.end(),
                                  [&](rank_transfer const& send) { return p.owner(send.block) == rank; });
    return own == share.sends.end() ? std::numeric_limits<step_type>::max() : own->step;
}

namespace detail {

/// Arrivals may not differ by more than 2^62 ns (146 years), so that times since the first one can be added.
inline auto first_arrival(problem const& p) -> ticks {
    if (p.arrivals.empty()) return ticks{0};
    auto const [first, last] = std::minmax_element(p.arrivals.begin(), p.arrivals.end());
    auto const span = static_cast<std::uint64_t>(last->count()) - static_cast<std::uint64_t>(first->count());
    if (span > std::uint64_t{1} << 62U)
        require(false, "arrivals must not differ by more than 2^62 ns", static_cast<long long>(span));
    return *first;
}

} // namespace detail

} // namespace papcoll::inline v0
