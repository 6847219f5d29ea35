// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace papcoll::inline v0::detail {

/// Goes through the rounds of broadcasts that end together, of which the longest has n blocks. x rounds are
/// counted but left out, so that the last one is the last of a phase.
class circulant_rounds {
public:
    /// A phase has q rounds, at least 1.
    constexpr circulant_rounds(step_type blocks, int phase)
        : m_count(blocks - 1 + phase)
        , m_phase(phase)
        , m_in_phase(phase - 1 - static_cast<int>((blocks + phase - 2) % phase))
        , m_shift(-m_in_phase - blocks) {}

    [[nodiscard]] constexpr auto count() const -> step_type { return m_count; }
    [[nodiscard]] constexpr auto step() const -> step_type { return m_step; }
    /// Behind the last round.
    [[nodiscard]] constexpr auto over() const -> bool { return m_step == m_count; }
    /// k, which of the q rounds this is.
    [[nodiscard]] constexpr auto in_phase() const -> int { return m_in_phase; }
    /// The block that an entry of the schedule stands for in this round, if the broadcast has `blocks`;
    /// negative: none. Counted from the last block it is the same for all broadcasts.
    [[nodiscard]] constexpr auto block(step_type blocks, int entry) const -> step_type {
        return blocks + std::min<step_type>(entry + m_shift, -1);
    }
    constexpr void next() {
        ++m_step;
        if (++m_in_phase < m_phase) return;
        m_in_phase = 0;
        m_shift += m_phase;
    }

private:
    step_type m_count;
    step_type m_step = 0;
    int m_phase;
    int m_in_phase; // x at first
    step_type m_shift;
};

/// A share with time and directions turned round: step s becomes last − s. Blocks of one step, which has one
/// peer, keep their order.
inline auto circulant_reversed(rank_schedule share, step_type last) -> rank_schedule {
    std::swap(share.sends, share.receives);
    for (auto* list : {&share.sends, &share.receives}) {
        std::reverse(list->begin(), list->end());
        for (auto first = list->begin(); first != list->end();) {
            auto const step = first->step;
            auto end = first;
            for (; end != list->end() && end->step == step; ++end) end->step = last - step;
            std::reverse(first, end);
            first = end;
        }
    }
    return share;
}

} // namespace papcoll::inline v0::detail
