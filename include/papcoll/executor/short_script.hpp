// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/program/program.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace papcoll::inline v0::detail {

/// A program of few messages as one sequence of actions, with the least that a processor has to do for them:
/// messages are posted as early as they may be, then what is there is computed, and only then the next
/// message is waited for. Of a program that uses the memory of the node and sends nothing it is the
/// instructions as they are.
class short_script {
public:
    using index = program::index;

    struct step {
        enum class kind : std::uint8_t { post, await, compute } what; ///< post: a send or a receive
        index instruction;
    };

    explicit short_script(program const& p)
        : m_program(p)
        , m_applies(is_short(p)) {
        if (!m_applies) return;
        if (p.node > 0) { // there are no messages
            for (index i = 0; i < p.size(); ++i) m_steps.push_back({step::kind::compute, i});
            return;
        }
        m_begun.resize(p.size());
        m_ended.resize(p.size());
        while (post(program::action::receive) || post(program::action::send) || compute() || await_next()) {
        }
        m_begun = {};
        m_ended = {};
    }

    /// False for programs that are not short: of many messages, or messages that are admitted.
    [[nodiscard]] auto applies() const -> bool { return m_applies; }
    [[nodiscard]] auto steps() const -> std::vector<step> const& { return m_steps; }
    /// Elements of the longest message.
    [[nodiscard]] auto longest() const -> std::size_t { return m_longest; }

private:
    static constexpr index most_instructions = 64;
    using action = program::action;

    static auto has_no_messages(program const& p) -> bool {
        return std::none_of(p.instructions.begin(), p.instructions.end(), [](auto const& i) {
            return i.what == action::send || i.what == action::receive || i.what == action::contribution;
        });
    }
    /// Whether all messages may be under way at a time: nobody has to make room for another.
    static auto is_short(program const& p) -> bool {
        if (p.node > 0) return has_no_messages(p);
        if (p.size() > most_instructions) return false;
        int sends = 0;
        int receives = 0;
        for (index i = 0; i < p.size(); ++i) {
            if (p.instructions[i].what == action::contribution) return false;
            if (!p.is_message(i)) continue;
            auto const& w = p.windows_of(i);
            bool const room =
                p.instructions[i].what == action::send ? ++sends <= w.sends : ++receives <= w.receives;
            if (w.admission || !room) return false;
        }
        return true;
    }
    [[nodiscard]] auto may_begin(index i) const -> bool {
        auto const waits = m_program.waits_of(i);
        return std::all_of(waits.begin(), waits.end(), [&](index w) { return m_ended[w]; });
    }
    [[nodiscard]] auto is_open(index i) const -> bool { return m_begun[i] && !m_ended[i]; }
    [[nodiscard]] auto is(index i, action what) const -> bool {
        return m_program.instructions[i].what == what;
    }
    void take(typename step::kind what, index i) {
        m_steps.push_back({what, i});
        if (what == step::kind::post) m_longest = std::max(m_longest, m_program.elements_of(i));
        m_begun[i] = true;
        m_ended[i] = what != step::kind::post;
    }

    /// The next send, or receive: they begin in the order of the program.
    auto post(action what) -> bool {
        for (index i = 0; i < m_program.size(); ++i) {
            if (m_begun[i] || !is(i, what)) continue;
            if (!may_begin(i)) return false;
            take(step::kind::post, i);
            return true;
        }
        return false;
    }
    auto compute() -> bool {
        for (index i = 0; i < m_program.size(); ++i) {
            if (m_begun[i] || m_program.is_message(i) || !may_begin(i)) continue;
            take(step::kind::compute, i);
            return true;
        }
        return false;
    }
    /// Waits for what the first instruction that has not begun needs. Receives begin ahead, so that they come
    /// last here: a send that could begin must not wait behind one of them.
    auto await_next() -> bool {
        for (bool const receives : {false, true})
            for (index i = 0; i < m_program.size(); ++i)
                if (!m_begun[i] && is(i, action::receive) == receives) return await_for(i);
        for (index i = 0; i < m_program.size(); ++i)
            if (is_open(i)) return await(i);
        return false;
    }
    auto await_for(index i) -> bool {
        for (auto const w : m_program.waits_of(i))
            if (is_open(w) && !is(w, action::receive)) return await(w);
        // What is left to wait for are receives, which can end in order.
        for (bool const receives : {true, false})
            for (index k = 0; k < m_program.size(); ++k)
                if (is_open(k) && is(k, action::receive) == receives) return await(k);
        return false;
    }
    auto await(index i) -> bool {
        take(step::kind::await, i);
        return true;
    }

    program const& m_program;
    bool m_applies;
    std::vector<step> m_steps;
    std::size_t m_longest = 0;
    std::vector<bool> m_begun, m_ended;
};

} // namespace papcoll::inline v0::detail
