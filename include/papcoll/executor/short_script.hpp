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
/// message, or post of another rank of the node, is waited for. Of a program without messages it is the
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
        if (!has_messages(p)) {
            for (index i = 0; i < p.size(); ++i) m_steps.push_back({step::kind::compute, i});
            return;
        }
        m_begun.resize(p.size());
        m_ended.resize(p.size());
        while (post(action::receive) || post(action::send) || compute() || await_next()) {
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

    static auto has_messages(program const& p) -> bool {
        for (index i = 0; i < p.size(); ++i)
            if (p.is_message(i)) return true;
        return false;
    }
    /// Whether all sends may be under way at a time: none has to make room for another, which its receiver
    /// may need first.
    static auto is_short(program const& p) -> bool {
        if (std::any_of(p.instructions.begin(), p.instructions.end(),
                        [](auto const& i) { return i.what == action::contribution; }))
            return false;
        if (!has_messages(p)) return true;
        int sends = 0;
        for (index i = 0; i < p.size(); ++i) {
            if (!p.is_message(i)) continue;
            auto const& w = p.windows_of(i);
            if (w.admission || (p.instructions[i].what == action::send && ++sends > w.sends)) return false;
        }
        return p.size() <= most_instructions;
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
        if (is(i, action::receive)) m_open_receives += what == step::kind::post ? 1 : -1;
        m_begun[i] = true;
        m_ended[i] = what != step::kind::post;
    }

    /// The next send, or receive: they begin in the order of the program.
    auto post(action what) -> bool {
        auto const i = first_not_begun([&](index k) { return is(k, what); });
        if (i == m_program.size() || !may_begin(i)) return false;
        if (what == action::receive && m_open_receives >= m_program.windows_of(i).receives) return false;
        take(step::kind::post, i);
        return true;
    }
    /// What waits for nobody. Posts come in the order of the program.
    auto compute() -> bool {
        bool may_post = true;
        for (index i = 0; i < m_program.size(); ++i) {
            if (m_begun[i] || m_program.is_message(i)) continue;
            bool const posts = is(i, action::post);
            if (!is(i, action::await) && !group_of(i) && (may_post || !posts) && may_begin(i)) {
                take(step::kind::compute, i);
                return true;
            }
            may_post = may_post && !posts;
        }
        return false;
    }
    /// Waits for what the first instruction that has not begun needs. Receives begin ahead, so that they come
    /// last here: a send that could begin must not wait behind one of them.
    auto await_next() -> bool {
        auto const i = first_not_begun([&](index k) { return !is(k, action::receive); });
        return i < m_program.size() ? await_for(i) : await_for_receive();
    }
    /// All instructions before it have begun, but for receives.
    auto await_for(index i) -> bool {
        auto const* const group = group_of(i);
        auto const end = group != nullptr ? i + group->part * group->count : i + 1;
        bool misses = false;
        for (auto k = i; k < end; ++k)
            for (auto const w : m_program.waits_of(k)) {
                if (is_open(w)) return await(w);
                misses = misses || (!m_ended[w] && w < i);
            }
        if (misses) return await_for_receive();
        for (auto k = i; k < end; ++k) take(step::kind::compute, k); // awaits a post, or parts of such
        return true;
    }
    /// For the next receive to begin, or else for what is under way.
    auto await_for_receive() -> bool {
        auto const next = first_not_begun([&](index k) { return is(k, action::receive); });
        if (next < m_program.size())
            for (auto const w : m_program.waits_of(next))
                if (is_open(w)) return await(w);
        for (auto const what : {action::receive, action::send})
            for (index i = 0; i < m_program.size(); ++i)
                if (is_open(i) && is(i, what)) return await(i);
        return false;
    }
    auto await(index i) -> bool {
        take(step::kind::await, i);
        return true;
    }
    template <class Matches>
    [[nodiscard]] auto first_not_begun(Matches const& matches) const -> index {
        for (index i = 0; i < m_program.size(); ++i)
            if (!m_begun[i] && matches(i)) return i;
        return m_program.size();
    }
    /// Of those that are taken in any order, and thus together; null: it is none.
    [[nodiscard]] auto group_of(index i) const -> program::any_order const* {
        for (auto const& g : m_program.any_orders)
            if (i >= g.begin && i < g.begin + g.part * g.count) return &g;
        return nullptr;
    }

    program const& m_program;
    bool m_applies;
    std::vector<step> m_steps;
    std::size_t m_longest = 0;
    std::vector<bool> m_begun, m_ended;
    int m_open_receives = 0;
};

} // namespace papcoll::inline v0::detail
