// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/order_of_one_go.hpp>
#include <papcoll/executor/short_script.hpp>
#include <papcoll/program/program.hpp>
#include <papcoll/program/program_builder.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// What short scripts must be: each keeps the order and the windows of its program, and those of all ranks
/// end together, even where every send waits for its receive.
namespace short_scripts {

using papcoll::program;
using papcoll::detail::short_script;
using kind = short_script::step::kind;

/// What is wrong with the script of one program.
[[nodiscard]] inline auto broken_order(program const& p, short_script const& script)
    -> std::optional<std::string> {
    std::vector<int> state(p.size(), 0);            // 1: begun, 2: ended
    std::map<program::action, program::index> last; // that has begun, of each kind
    int receives = 0;
    auto const fails = [](char const* what, program::index i) {
        return std::optional(std::string(what) + " instruction " + std::to_string(i));
    };
    for (auto const& s : script.steps()) {
        auto const i = s.instruction;
        if (s.what == kind::await) {
            if (!p.is_message(i) || state[i] != 1) return fails("the script waits too early for", i);
            state[i] = 2;
            receives -= p.instructions[i].what == program::action::receive ? 1 : 0;
            continue;
        }
        if (state[i] != 0 || p.is_message(i) != (s.what == kind::post)) return fails("the script repeats", i);
        for (auto const w : p.waits_of(i))
            if (state[w] != 2) return fails("the script does not wait before", i);
        bool const ordered = p.is_message(i) || p.is_sign(i);
        auto& before = last[p.instructions[i].what];
        if (ordered && i < before) return fails("the script reorders", i);
        before = i;
        state[i] = p.is_message(i) ? 1 : 2;
        if (p.instructions[i].what == program::action::receive && ++receives > p.windows_of(i).receives)
            return fails("the window does not hold", i);
    }
    for (program::index i = 0; i < p.size(); ++i)
        if (state[i] != 2) return fails("the script does not end", i);
    return {};
}

/// The scripts of all ranks, step by step.
class world {
public:
    world(std::vector<program> const& programs, std::vector<short_script> const& scripts)
        : m_programs(programs)
        , m_scripts(scripts)
        , m_at(programs.size())
        , m_posts(programs.size())
        , m_number(programs.size()) {
        for (std::size_t r = 0; r < programs.size(); ++r) number(programs[r], m_number[r]);
    }
    /// Whether all come to their ends.
    [[nodiscard]] auto ends() -> bool {
        bool any = true;
        while (any) {
            any = false;
            for (std::size_t r = 0; r < m_at.size(); ++r)
                while (m_at[r] < m_scripts[r].steps().size() && step(r, m_scripts[r].steps()[m_at[r]])) {
                    ++m_at[r];
                    any = true;
                }
        }
        for (std::size_t r = 0; r < m_at.size(); ++r)
            if (m_at[r] < m_scripts[r].steps().size()) return false;
        return true;
    }

private:
    /// Of a message which it is of the pair, of an await how many posts it waits for.
    static void number(program const& p, std::vector<std::size_t>& numbers) {
        std::map<std::pair<int, program::action>, std::size_t> messages;
        auto posts = p.posts.begin();
        for (auto const& i : p.instructions) {
            bool const message = i.what == program::action::send || i.what == program::action::receive;
            if (message)
                numbers.push_back(messages[{i.peer, i.what}]++);
            else
                numbers.push_back(i.what == program::action::await ? *posts++ : 0);
        }
    }
    auto step(std::size_t rank, short_script::step const& s) -> bool {
        auto const& i = m_programs[rank].instructions[s.instruction];
        auto const peer = static_cast<std::size_t>(i.peer);
        if (s.what == kind::post) {
            ++m_begun[{rank, peer, i.what}];
        } else if (s.what == kind::await) {
            auto const other =
                i.what == program::action::send ? program::action::receive : program::action::send;
            auto const there = m_begun.find({peer, rank, other});
            return there != m_begun.end() && there->second > m_number[rank][s.instruction];
        } else if (i.what == program::action::post) {
            ++m_posts[rank];
        } else if (i.what == program::action::await) {
            return m_posts[peer] >= m_number[rank][s.instruction];
        }
        return true;
    }

    struct direction {
        std::size_t rank, peer;
        program::action what;
        friend auto operator<=>(direction const&, direction const&) = default;
    };
    std::vector<program> const& m_programs;
    std::vector<short_script> const& m_scripts;
    std::vector<std::size_t> m_at, m_posts;
    std::map<direction, std::size_t> m_begun;
    std::vector<std::vector<std::size_t>> m_number;
};

/// What is wrong with the orders in which ranks go through programs without signs in one go, where sends wait
/// for nobody.
[[nodiscard]] inline auto broken_orders_of_one_go(std::vector<program> const& programs)
    -> std::optional<std::string> {
    constexpr program::index most_instructions = 256; // it is for short programs
    using action = program::action;
    auto const is_another = [](auto const& i) {
        return i.what == action::post || i.what == action::await || i.what == action::contribution;
    };
    std::vector<std::vector<program::index>> orders;
    for (auto const& p : programs) {
        if (p.size() > most_instructions ||
            std::any_of(p.instructions.begin(), p.instructions.end(), is_another))
            return {};
        auto const& order = orders.emplace_back(papcoll::detail::order_of_one_go(p));
        std::vector<bool> done(p.size());
        std::map<action, program::index> last;
        for (auto const i : order) {
            if (done[i]) return "one go repeats instruction " + std::to_string(i);
            for (auto const w : p.waits_of(i))
                if (!done[w]) return "one go does not wait before instruction " + std::to_string(i);
            auto& before = last[p.instructions[i].what];
            if (p.is_message(i) && i < before) return "one go reorders instruction " + std::to_string(i);
            before = i;
            done[i] = true;
        }
        if (order.size() != p.size()) return "one go leaves instructions out";
    }
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> under_way;
    std::vector<std::size_t> at(programs.size());
    auto const step = [&](std::size_t r) {
        if (at[r] == orders[r].size()) return false;
        auto const& i = programs[r].instructions[orders[r][at[r]]];
        auto const peer = static_cast<std::size_t>(i.peer);
        if (i.what == action::send) ++under_way[{r, peer}];
        if (i.what == action::receive && under_way[{peer, r}]-- == 0) {
            under_way[{peer, r}] = 0;
            return false;
        }
        ++at[r];
        return true;
    };
    for (bool any = true; any;) {
        any = false;
        for (std::size_t r = 0; r < at.size(); ++r)
            while (step(r)) any = true;
    }
    for (std::size_t r = 0; r < at.size(); ++r)
        if (at[r] < orders[r].size()) return "ranks that go in one go wait for each other";
    return {};
}

/// What is wrong with the scripts of all ranks, if they have any.
[[nodiscard]] inline auto violation_of(std::vector<program> const& uncut) -> std::optional<std::string> {
    std::vector<program> programs;
    for (auto const& p : uncut) programs.push_back(p.uncut ? papcoll::in_pieces(p) : p);
    if (auto broken = broken_orders_of_one_go(programs)) return broken;
    std::vector<short_script> scripts;
    scripts.reserve(programs.size());
    for (auto const& p : programs) {
        auto const& script = scripts.emplace_back(p);
        if (!script.applies()) continue;
        if (auto broken = broken_order(p, script)) return broken;
    }
    if (!std::all_of(scripts.begin(), scripts.end(), [](auto const& s) { return s.applies(); })) return {};
    if (!world(programs, scripts).ends()) return "the short scripts of all ranks wait for each other";
    return {};
}

} // namespace short_scripts
