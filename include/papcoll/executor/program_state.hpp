// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/held_bytes.hpp>
#include <papcoll/program/program.hpp>

#include <cstddef>
#include <vector>

namespace papcoll::inline v0::detail {

/// How far the execution of a program has come: which instructions may begin.
class program_state {
public:
    using index = program::index;
    static constexpr index none = static_cast<index>(-1);

    explicit program_state(program const& p)
        : m_first_follower(p.instructions.size() + 1)
        , m_waits(p.instructions.size()) {
        for (auto const earlier : p.waits) ++m_first_follower[earlier + 1];
        for (std::size_t i = 1; i < m_first_follower.size(); ++i)
            m_first_follower[i] += m_first_follower[i - 1];
        m_followers.resize(p.waits.size());
        auto next = m_first_follower;
        for (index i = 0; i < p.size(); ++i) {
            m_waits[i] = static_cast<index>(p.waits_of(i).size());
            for (auto const earlier : p.waits_of(i)) m_followers[next[earlier]++] = i;
            list(p, i);
        }
        m_ready.reserve(m_computations.size());
    }

    /// Nothing has been done.
    void restart() {
        m_missing = m_waits;
        m_left = m_waits.size();
        m_ready.clear();
        m_next_ready = 0;
        for (auto const i : m_computations)
            if (m_missing[i] == 0) m_ready.push_back(i);
    }
    [[nodiscard]] auto may_begin(index i) const -> bool { return m_missing[i] == 0; }
    /// Instruction i has ended.
    void end(index i) {
        --m_left;
        for (auto f = m_first_follower[i]; f < m_first_follower[i + 1]; ++f) {
            auto const follower = m_followers[f];
            if (--m_missing[follower] == 0 && m_computes[follower]) m_ready.push_back(follower);
        }
    }
    /// The next of all but messages and contributions that may begin; none.
    [[nodiscard]] auto take_ready() -> index {
        return m_next_ready < m_ready.size() ? m_ready[m_next_ready++] : none;
    }
    /// Whether all instructions have ended.
    [[nodiscard]] auto over() const -> bool { return m_left == 0; }

    /// How many instructions await others' posts.
    [[nodiscard]] auto awaits() const -> std::size_t { return m_awaits; }
    /// In the order of the program.
    [[nodiscard]] auto sends() const -> std::vector<index> const& { return m_sends; }
    [[nodiscard]] auto receives() const -> std::vector<index> const& { return m_receives; }
    [[nodiscard]] auto contributions() const -> std::vector<index> const& { return m_contributions; }
    /// Of a send, a receive or an await: where it is among them.
    [[nodiscard]] auto position_of(index i) const -> std::size_t { return m_positions[i]; }
    /// Of a message.
    [[nodiscard]] auto elements_of(index i) const -> std::size_t { return m_elements[i]; }
    [[nodiscard]] auto combines_alike() const -> bool { return m_combines_alike; }
    [[nodiscard]] auto held_bytes() const -> std::size_t {
        return detail::held_bytes(m_first_follower, m_followers, m_waits, m_missing, m_ready, m_sends,
                                  m_receives, m_computations, m_positions) +
               detail::held_bytes(m_elements);
    }

private:
    void list(program const& p, index i) {
        auto const& instruction = p.instructions[i];
        m_computes.push_back(false);
        m_elements.push_back(p.is_message(i) ? p.elements_of(i) : 0);
        bool const sends = instruction.what == program::action::send;
        bool const awaits = instruction.what == program::action::await;
        m_positions.push_back(awaits ? m_awaits++
                                     : static_cast<index>((sends ? m_sends : m_receives).size()));
        switch (instruction.what) {
        case program::action::send:
            m_sends.push_back(i);
            break;
        case program::action::receive:
            m_receives.push_back(i);
            break;
        case program::action::contribution:
            m_contributions.push_back(i);
            break;
        case program::action::combine:
        case program::action::copy:
        case program::action::post:
        case program::action::await:
            m_computes[i] = true;
            m_computations.push_back(i);
            m_combines_alike = m_combines_alike || instruction.alike;
            break;
        }
    }

    std::vector<index> m_first_follower, m_followers, m_waits, m_missing, m_positions;
    std::vector<bool> m_computes;
    std::vector<std::size_t> m_elements;
    std::vector<index> m_sends, m_receives, m_contributions, m_computations;
    std::vector<index> m_ready; // those before m_next_ready have been taken
    std::size_t m_next_ready = 0;
    index m_awaits = 0;
    std::size_t m_left = 0;
    bool m_combines_alike = false;
};

} // namespace papcoll::inline v0::detail
