// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/scheduler.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// What `reversed` returns: the schedules of `forward` with time and directions turned round.
template <scheduler S>
struct reversed_scheduler {
    /// The scheduler whose transfers are turned round.
    S forward;

    static constexpr schedule_kind kind =
        S::kind == schedule_kind::reduction ? schedule_kind::dissemination : schedule_kind::reduction;

    /// That of the scheduler, if it has one, or no members.
    [[nodiscard]] auto fingerprint() const -> std::vector<std::int64_t>
    requires detail::told_scheduler<S> { return detail::fingerprint_of(forward); }
    /// All transfers, turned round.
    [[nodiscard]] auto transfers(problem const& p) const -> std::vector<transfer>;
    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> rank_schedule;
};

/// Turns a reduction scheduler into a dissemination scheduler and the other way round.
///
/// Step s of a schedule whose largest step is L becomes step L − s, and every transfer changes its direction.
///
/// In a reduction a block may come back to a rank that has sent it: reversed, that rank would get the block
/// several times. It keeps the delivery that comes first in the order of the dissemination, and an owner gets
/// none. That is enough: whoever passes the block on in the dissemination got it in the reduction and then
/// sent it later still, so the first delivery precedes all of its sends. Leaving messages out keeps the rest
/// one-ported. In the other direction the same transfers are left out, so a dissemination that delivers a
/// block twice becomes a reduction that counts every contribution once.
///
/// `problem.arrivals` goes to the scheduler unchanged: to leave late ranks for the end of a dissemination
/// pass the times at which ranks should be *done* last. Cost: one rank's share costs as much as the whole
/// schedule, because the length L and the deliveries left out depend on all ranks; O(T log T + P N) for T
/// transfers. A scheduler that can do better has a member reversed_for_rank(problem, rank).
template <scheduler S>
[[nodiscard]] auto reversed(S forward) -> reversed_scheduler<S> {
    return {std::move(forward)};
}

template <scheduler S>
auto reversed_scheduler<S>::transfers(problem const& p) const -> std::vector<transfer> {
    check(p);
    auto all = papcoll::transfers(forward, p);
    if (all.empty()) return all;
    for (auto const& t : all) detail::require_well_formed(t, p);
    constexpr bool from_reduction = S::kind == schedule_kind::reduction;
    auto const in_dissemination_order = [](transfer const& a, transfer const& b) {
        return from_reduction ? b.step < a.step : a.step < b.step;
    };
    std::stable_sort(all.begin(), all.end(), in_dissemination_order);
    auto const length = std::max(all.front().step, all.back().step);

    auto const blocks = static_cast<std::size_t>(p.blocks);
    std::vector<bool> has(static_cast<std::size_t>(p.ranks) * blocks);
    auto const cell = [&](int rank, int block) {
        return has[static_cast<std::size_t>(rank) * blocks + static_cast<std::size_t>(block)];
    };
    for (int block = 0; block < p.blocks; ++block) cell(p.owner(block), block) = true;

    std::vector<transfer> kept;
    kept.reserve(all.size());
    for (auto const& t : all) {
        auto receiver = cell(from_reduction ? t.from : t.to, t.block);
        if (!receiver) kept.push_back({length - t.step, t.to, t.from, t.block});
        receiver = true;
    }
    std::sort(kept.begin(), kept.end());
    return kept;
}

template <scheduler S>
auto reversed_scheduler<S>::for_rank(problem const& p, int rank) const -> rank_schedule {
    if constexpr (requires { forward.reversed_for_rank(p, rank); }) return forward.reversed_for_rank(p, rank);
    rank_schedule share;
    for (auto const& t : transfers(p)) {
        if (t.from == rank) share.sends.push_back({t.step, t.to, t.block});
        if (t.to == rank) share.receives.push_back({t.step, t.from, t.block});
    }
    return share;
}

} // namespace papcoll::inline v0
