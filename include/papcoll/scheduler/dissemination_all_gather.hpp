// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/is_power.hpp>
#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/detail/owned_blocks.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

/// Brings the blocks of all owners to all ranks in ⌈log_k p⌉ rounds of up to k − 1 messages at a rank; what a
/// rank owns is its unit and moves as a whole. With k = 2 the all-gather of Bruck et al. (1997), or by
/// recursive doubling, with k ≥ p every rank sends its unit to each other.
///
/// Before round t rank r has the units of r … r + k^t − 1, modulo p. In it it receives those of r + d·k^t …
/// r + (d + 1)·k^t − 1 from r + d·k^t, for d = 1 … k − 1, and sends its first ones to r − d·k^t; of the last
/// round what is still missing.
///
/// Where p is a power of k the messages of a round go both ways between the same ranks, whose numbers to base
/// k differ in digit t alone: before round t a rank has the units of all whose numbers differ from its own in
/// digits below t, in one piece, and what acknowledges one message goes with the other.
///
/// Volume (p − 1)/p, whatever k. A round is k − 1 steps, and blocks ascend within a step.
///
/// One rank's share: O(T log T) for T transfers of this rank, and O(problem.blocks · log_k p). The arrivals
/// do not enter the schedule. Throws std::invalid_argument for a malformed problem, a rank out of range, or a
/// radix below 2.
struct dissemination_all_gather_scheduler {
    /// k, at least 2.
    int radix = 2;

    static constexpr auto kind = schedule_kind::dissemination;
    static constexpr std::string_view name = "dissemination";

    /// Everything but the problem that the schedule depends on.
    [[nodiscard]] auto fingerprint() const -> std::vector<std::int64_t> { return {radix}; }
    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> rank_schedule;

    friend auto operator==(dissemination_all_gather_scheduler const&,
                           dissemination_all_gather_scheduler const&) -> bool = default;
};

inline auto dissemination_all_gather_scheduler::for_rank(problem const& p, int rank) const -> rank_schedule {
    detail::check_rank(p, rank);
    detail::require(radix >= 2, "radix must be at least 2", radix);
    std::int64_t const ranks = p.ranks;
    bool const in_groups = detail::is_power(p.ranks, radix);
    auto const step_of = [&](step_type round, std::int64_t d) { return round * (radix - 1) + d - 1; };
    auto const at = [&](std::int64_t unit, std::int64_t d) {
        auto const size = in_groups ? unit * radix : ranks;
        auto const first = in_groups ? rank / size * size : 0;
        return static_cast<int>(first + (rank - first + d * unit + size) % size);
    };
    rank_schedule share;
    for (int block = 0; block < p.blocks; ++block) {
        std::int64_t const owner = p.owner(block);
        auto const distance = (owner - rank + ranks) % ranks; // of the owner above
        std::int64_t unit = 1;
        step_type round = 0;
        auto const comes_later = [&] {
            return in_groups ? owner / (unit * radix) != rank / (unit * radix) : unit * radix <= distance;
        };
        for (; comes_later(); unit *= radix) ++round;
        if (distance > 0) {
            auto const d = in_groups ? (owner / unit - rank / unit + radix) % radix : distance / unit;
            share.receives.push_back({step_of(round, d), at(unit, d), block});
            unit *= radix;
            ++round;
        }
        auto const already = in_groups ? 0 : distance; // of the last round not all is missing
        for (; unit + already < ranks; unit *= radix, ++round)
            for (std::int64_t d = 1; d < radix && d * unit + already < ranks; ++d)
                share.sends.push_back({step_of(round, d), at(unit, -d), block});
    }
    std::sort(share.sends.begin(), share.sends.end());
    std::sort(share.receives.begin(), share.receives.end());
    return share;
}

} // namespace papcoll::inline v0
