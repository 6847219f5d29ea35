// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis/detail/schedule_programs.hpp>
#include <papcoll/analysis/timeline.hpp>
#include <papcoll/program/program.hpp>
#include <papcoll/schedule/transfer.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace papcoll::inline v0::detail {

struct no_schedule_recorder {
    void add(program const&) {}
    void message(timed_message const&) {}
    void combination(timed_instruction const&) {}
    void sign(timed_sign const&) {}
};

/// Tells what the instructions of the programs of a schedule do in the words of the schedule.
class schedule_recorder {
public:
    schedule_recorder(schedule_programs const& programs, schedule_timeline& out)
        : m_programs(programs)
        , m_out(out) {}

    /// The program of the next rank.
    void add(program const& p) {
        auto const rank = static_cast<int>(m_first.size());
        auto sent = m_programs.sent(rank);
        auto received = m_programs.received(rank);
        m_first.push_back(m_transfer.size());
        // Of the message received last: the blocks that are not combined yet, and where the first of them is.
        std::span<std::size_t const> blocks;
        std::size_t at = 0;
        for (program::index i = 0; i < p.size(); ++i) {
            std::size_t first = 0;
            if (p.instructions[i].what == program::action::send) {
                first = take_message(sent).front();
            } else if (p.instructions[i].what == program::action::receive) {
                blocks = take_message(received);
                at = p.regions_of(i).front().offset();
            } else if (p.instructions[i].what == program::action::combine) {
                for (; at != p.regions_of(i).front().offset(); blocks = blocks.subspan(1))
                    at += m_programs.bytes_of(blocks.front());
                first = blocks.front();
            }
            m_transfer.push_back(first);
        }
    }
    void message(timed_message const& m) {
        auto const& all = m_programs.transfers();
        auto const first = of(m.from, m.send);
        for (auto i = first; i < all.size() && is_same_message(all[i], all[first]); ++i)
            m_out.transfers.push_back({all[i], m.begin, m.end});
    }
    void combination(timed_instruction const& c) {
        m_out.combinations.push_back({m_programs.transfers()[of(c.rank, c.instruction)], c.begin, c.end});
    }
    void sign(timed_sign const&) {} // schedules have none

private:
    static auto is_same_message(transfer const& a, transfer const& b) -> bool {
        return a.step == b.step && a.from == b.from && a.to == b.to;
    }
    auto take_message(std::span<std::size_t const>& list) const -> std::span<std::size_t const> {
        auto const& all = m_programs.transfers();
        std::size_t n = 1;
        while (n < list.size() && is_same_message(all[list[n]], all[list[0]])) ++n;
        auto const message = list.first(n);
        list = list.subspan(n);
        return message;
    }
    [[nodiscard]] auto of(int rank, program::index i) const -> std::size_t {
        return m_transfer[m_first[static_cast<std::size_t>(rank)] + i];
    }

    schedule_programs const& m_programs;
    schedule_timeline& m_out;
    std::vector<std::size_t> m_first;    // instruction of a rank
    std::vector<std::size_t> m_transfer; // per instruction: the first of its message, or what it combines
};

} // namespace papcoll::inline v0::detail
