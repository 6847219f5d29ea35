// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>

#include <algorithm>
#include <concepts>
#include <vector>

namespace papcoll::inline v0 {

/// A pure function from a problem to a schedule. For `S const s`, `problem const p`, `int rank`:
///
///  1. `S::kind` is a constant of type schedule_kind.
///  2. `s.for_rank(p, rank)` returns the rank_schedule of `rank`, both lists in step order. It depends on its
///     arguments alone: no clock, no communication, no randomness, so that all ranks agree.
///  3. Optionally `s.transfers(p)` returns the whole schedule as std::vector<transfer>, in step order and
///     within a step in the order in which it was generated.
///  4. Optionally `S::name` is a name, which policies made of the scheduler then have.
///
/// What the schedules must satisfy is checked by verify_reduction and verify_dissemination.
///
///     struct to_the_root { // a minimal model: all send all to the root, one rank after the other
///         static constexpr auto kind = papcoll::schedule_kind::reduction;
///         auto for_rank(papcoll::problem const& p, int rank) const -> papcoll::rank_schedule;
///     };
template <class S>
concept scheduler = std::copyable<S> && requires(S const& s, problem const& p, int rank) {
    requires std::same_as<std::remove_cv_t<decltype(S::kind)>, schedule_kind>;
    { s.for_rank(p, rank) } -> std::same_as<rank_schedule>;
};

/// The whole schedule, in step order: the scheduler's own `transfers` where it has one, else the sends of
/// all ranks put together.
template <scheduler S>
[[nodiscard]] auto transfers(S const& s, problem const& p) -> std::vector<transfer> {
    if constexpr (requires {
                      { s.transfers(p) } -> std::same_as<std::vector<transfer>>;
                  }) {
        return s.transfers(p);
    } else {
        std::vector<transfer> all;
        for (int rank = 0; rank < p.ranks; ++rank)
            for (auto const& send : s.for_rank(p, rank).sends)
                all.push_back({send.step, rank, send.peer, send.block});
        std::sort(all.begin(), all.end());
        return all;
    }
}

} // namespace papcoll::inline v0
