// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/program/program.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace papcoll::inline v0::detail {

/// A program of few messages as one sequence of actions: receives are posted as early as they may be, and
/// each message is waited for when something needs it. Does what the program says with the least that a
/// processor has to do for it.
class short_script {
public:
    using index = program::index;

    struct step {
        enum class kind : std::uint8_t { post, await, compute } what; ///< post: a send or a receive
        index instruction;
    };

    /// Empty for programs that are not short: of many messages, or messages that are admitted.
    explicit short_script(program const& p)
        : m_program(p) {
        if (!is_short(p)) return;
        m_begun.resize(p.size());
        m_ended.resize(p.size());
        post_receives();
        for (index i = 0; i < p.size(); ++i) {
            if (m_begun[i]) continue;
            for (auto const earlier : p.waits_of(i)) await(earlier);
            begin(i);
            post_receives();
        }
        for (index i = 0; i < p.size(); ++i) await(i);
        m_begun = {};
        m_ended = {};
    }

    [[nodiscard]] auto steps() const -> std::vector<step> const& { return m_steps; }

private:
    static constexpr index most_instructions = 64;
    static constexpr std::size_t most_messages = 16; // each way

    static auto is_short(program const& p) -> bool {
        if (p.size() > most_instructions) return false;
        std::size_t sends = 0;
        std::size_t receives = 0;
        for (index i = 0; i < p.size(); ++i) {
            if (p.instructions[i].what == program::action::contribution) return false;
            sends += p.instructions[i].what == program::action::send ? 1 : 0;
            receives += p.instructions[i].what == program::action::receive ? 1 : 0;
            if (!p.is_message(i)) continue;
            auto const& w = p.windows_of(i);
            if (w.admission || static_cast<std::size_t>(w.receives) < std::min(receives, most_ahead) ||
                static_cast<std::size_t>(w.sends) < std::min(sends, most_ahead))
                return false;
        }
        return std::max(sends, receives) <= most_messages;
    }
    void post_receives() {
        for (index i = 0; i < m_program.size(); ++i) {
            if (m_begun[i] || m_program.instructions[i].what != program::action::receive) continue;
            auto const waits = m_program.waits_of(i);
            bool const may_begin =
                std::all_of(waits.begin(), waits.end(), [&](index w) { return m_ended[w]; });
            if (!may_begin) return; // receives begin in order
            begin(i);
        }
    }
    void begin(index i) {
        m_begun[i] = true;
        bool const computes = !m_program.is_message(i);
        m_steps.push_back({computes ? step::kind::compute : step::kind::post, i});
        m_ended[i] = computes;
    }
    void await(index i) {
        if (m_ended[i]) return;
        m_steps.push_back({step::kind::await, i});
        m_ended[i] = true;
    }

    static constexpr std::size_t most_ahead = 2;

    program const& m_program;
    std::vector<step> m_steps;
    std::vector<bool> m_begun, m_ended;
};

} // namespace papcoll::inline v0::detail
