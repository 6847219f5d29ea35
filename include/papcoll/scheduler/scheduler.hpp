// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <type_traits>
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
///  5. Optionally `s.fingerprint()` returns as std::vector<std::int64_t> everything but the problem that the
///     schedule depends on. Of a scheduler that has members and no fingerprint each call makes its plan anew,
///     and agreed checks do not compare them.
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

namespace detail {

/// Whether a scheduler says all that its schedules depend on: by a fingerprint, or since it has no members.
template <class S>
concept told_scheduler = std::is_empty_v<S> || requires(S const& s) {
    { s.fingerprint() } -> std::same_as<std::vector<std::int64_t>>;
};
template <told_scheduler S>
[[nodiscard]] auto fingerprint_of(S const& s) -> std::vector<std::int64_t> {
    if constexpr (std::is_empty_v<S>)
        return {};
    else
        return s.fingerprint();
}

} // namespace detail

/// The whole schedule, in step order: the scheduler's own `transfers` where it has one, else the shares of
/// all ranks put together. Throws std::invalid_argument where one rank sends what the other does not receive,
/// or the other way round.
template <scheduler S>
[[nodiscard]] auto transfers(S const& s, problem const& p) -> std::vector<transfer> {
    if constexpr (requires {
                      { s.transfers(p) } -> std::same_as<std::vector<transfer>>;
                  }) {
        return s.transfers(p);
    } else {
        std::vector<transfer> sent, received;
        for (int rank = 0; rank < p.ranks; ++rank) {
            auto const share = s.for_rank(p, rank);
            for (auto const& t : share.sends) sent.push_back({t.step, rank, t.peer, t.block});
            for (auto const& t : share.receives) received.push_back({t.step, t.peer, rank, t.block});
        }
        std::sort(sent.begin(), sent.end());
        std::sort(received.begin(), received.end());
        detail::require_both_ends(sent, received);
        return sent;
    }
}

} // namespace papcoll::inline v0
