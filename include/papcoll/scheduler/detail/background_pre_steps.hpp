// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/background.hpp>
#include <papcoll/scheduler/detail/owned_blocks.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace papcoll::inline v0::detail {

/// The pre-steps of the background ring (paper 4, Listing 2, lines 22 to 33), one after the other.
///
/// Slots of one block time end at the last arrival; slot u counts backwards, so the last one is u = 1. A rank
/// can send in the slots 1 … ⌊(last − its arrival) / block time⌋. Slots in which nobody has anything to send
/// are jumped over: slots may be many, those in use are at most P (P − 1).
class background_pre_steps {
public:
    background_pre_steps(problem const& p, owned_blocks const& blocks, ticks block_time)
        : m_ranks(p.ranks)
        , m_slots(static_cast<std::size_t>(p.ranks))
        , m_left(static_cast<std::size_t>(p.ranks), p.ranks - 1)
        , m_receives(static_cast<std::size_t>(p.ranks), -1) {
        require(block_time.count() > 0, "block_time must be positive", block_time.count());
        auto const first = first_arrival(p);
        ticks latest{0};
        for (int rank = 0; rank < p.ranks; ++rank) latest = std::max(latest, p.arrival(rank) - first);
        for (int rank = 0; rank < p.ranks; ++rank) {
            m_slots[index(rank)] = (latest - (p.arrival(rank) - first)) / block_time;
            if (blocks.count(rank) == 0) m_left[index(rank)] = 0;
            if (m_slots[index(rank)] > 0 && m_left[index(rank)] > 0) m_awaited.push_back(rank);
        }
        // The earliest at the end, where they are taken off; of equals the lowest rank, which is asked first
        // and so must join last, at the beginning.
        std::sort(m_awaited.begin(), m_awaited.end(), [&](int a, int b) { return later(p, a, b); });
    }

    /// Calls sink(step, from, to) for each transfer of a rank's own blocks.
    template <class Sink>
    void run(Sink const& sink) {
        std::int64_t slot = 0;
        while (!m_active.empty() || !m_awaited.empty()) {
            if (m_active.empty()) slot = m_slots[index(m_awaited.back())];
            if (slot == 0) return;
            for (; !m_awaited.empty() && m_slots[index(m_awaited.back())] >= slot; m_awaited.pop_back())
                m_active.push_back(m_awaited.back());
            play_step(sink);
            --slot;
        }
    }

    /// The number of pre-steps, after run.
    [[nodiscard]] auto steps() const -> step_type { return m_steps; }
    /// To how many ranks the blocks of this rank have still to go.
    [[nodiscard]] auto left(int rank) const -> int { return m_left[index(rank)]; }

private:
    static auto index(int rank) -> std::size_t { return static_cast<std::size_t>(rank); }
    // Whether a is asked before b.
    static auto later(problem const& p, int a, int b) -> bool {
        return p.arrival(a) != p.arrival(b) ? p.arrival(a) > p.arrival(b) : a < b;
    }

    // m_active has those who are asked last at the beginning.
    template <class Sink>
    void play_step(Sink const& sink) {
        bool somebody_done = false;
        for (auto rank = m_active.rbegin(); rank != m_active.rend(); ++rank) {
            auto& left = m_left[index(*rank)];
            // r − 1 − (P − 1 − left)
            int const to = on_ring(*rank, left - m_ranks, m_ranks);
            if (m_receives[index(to)] == m_steps) continue;
            m_receives[index(to)] = m_steps;
            sink(m_steps, *rank, to);
            somebody_done = --left == 0 || somebody_done;
        }
        if (somebody_done) std::erase_if(m_active, [&](int rank) { return m_left[index(rank)] == 0; });
        ++m_steps;
    }

    int m_ranks;
    step_type m_steps = 0;
    std::vector<std::int64_t> m_slots;
    std::vector<int> m_left;
    std::vector<step_type> m_receives; // the last step with a receive
    std::vector<int> m_awaited, m_active;
};

} // namespace papcoll::inline v0::detail
