// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis/detail/program_text.hpp>
#include <papcoll/analysis/promise.hpp>
#include <papcoll/program/program.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace papcoll::inline v0::detail {

/// Whether one rank's instructions do the same in every order that its waits allow as one after the other:
/// of two that touch the same memory, one of them to write, the later waits for the earlier, directly or by
/// others between. Then a receive that writes from its beginning to its end, or a send that reads so long,
/// disturbs nobody. Nothing is read that is not there, and nothing is written but what may be.
class access_order {
public:
    using index = program::index;
    using verdict = std::optional<std::string>;

    access_order(program const& p, int rank, rank_promise const& promised)
        : m_program(p)
        , m_rank(rank)
        , m_seen(p.instructions.size(), none) {
        fill(memory::in, promised.in);
        fill(memory::out, std::max(promised.out, promised.in_place ? promised.in : 0));
        fill(memory::scratch, p.scratch);
        fill(memory::node, p.node); // what others do there is node_order's
        each_part(memory::node, 0, p.node, [](stretch& s) { s.open = s.there = true; });
        each_part(memory::scratch, 0, p.scratch, [](stretch& s) { s.open = true; });
        for (auto const& part : promised.given)
            each_part(place(part.where.where()), part.where.offset(), part.where.end(),
                      [&](stretch& s) { (promised.late ? s.awaited : s.there) = true; });
        for (auto const& part : promised.results) open(part.where);
        for (auto const& part : promised.unspecified) open(part);
    }

    [[nodiscard]] auto check() -> verdict {
        for (index i = 0; i < m_program.size(); ++i) {
            auto const what = m_program.instructions[i].what;
            auto const regions = m_program.regions_of(i);
            auto const n = program::operands(what);
            for (std::size_t r = 0; r < regions.size(); r += n) {
                for (std::size_t k = n > 1 ? 1 : 0; k < n; ++k)
                    if (n > 1 || what == program::action::send) read(regions[r + k], i);
                if (what != program::action::send) write(regions[r], i);
                if (m_violation) return m_violation;
            }
        }
        return {};
    }

private:
    static constexpr index none = static_cast<index>(-1);

    /// Memory with one history.
    struct stretch {
        std::size_t end;
        bool there = false;   ///< has contents
        bool open = false;    ///< may be written
        bool awaited = false; ///< the user's contribution comes here
        index writer = none;
        std::vector<index> readers = {};
    };
    using stretch_map = std::map<std::size_t, stretch>; // by where they begin

    [[nodiscard]] auto place(memory where) const -> std::size_t {
        return static_cast<std::size_t>(m_program.in_place && where == memory::in ? memory::out : where);
    }
    void fill(memory where, std::size_t size) {
        if (size > 0) m_stretches[static_cast<std::size_t>(where)].emplace(0, stretch{size});
    }
    void open(region const& r) {
        each_part(place(r.where()), r.offset(), r.end(), [](stretch& s) { s.open = true; });
    }
    template <class F>
    void each_part(memory where, std::size_t begin, std::size_t end, F f) {
        each_part(static_cast<std::size_t>(where), begin, end, f);
    }
    template <class F>
    void each_part(std::size_t where, std::size_t begin, std::size_t end, F f) {
        if (begin == end) return;
        auto& map = m_stretches[where];
        auto const last = cut_at(map, end);
        for (auto s = cut_at(map, begin); s != last; ++s) f(s->second);
    }
    /// The stretch that begins at `at`, which is made if need be.
    static auto cut_at(stretch_map& map, std::size_t at) -> stretch_map::iterator {
        auto const next = map.lower_bound(at);
        if (next == map.begin() || (next != map.end() && next->first == at)) return next;
        auto& before = std::prev(next)->second;
        if (before.end <= at) return next;
        auto behind = before;
        before.end = at;
        return map.emplace_hint(next, at, std::move(behind));
    }

    void read(region const& r, index i) {
        each_part(place(r.where()), r.offset(), r.end(), [&](stretch& s) {
            if (!s.there) fail(i, " reads " + text_of(r) + ", which is not all there");
            if (s.writer != none) need(s.writer, i, r);
            if (s.readers.empty() || s.readers.back() != i) s.readers.push_back(i);
        });
    }
    void write(region const& r, index i) {
        if (r.size() == 0) return;
        bool const contributes = m_program.instructions[i].what == program::action::contribution;
        each_part(place(r.where()), r.offset(), r.end(), [&](stretch& s) {
            if (contributes && !s.awaited)
                fail(i, " is awaited at " + text_of(r) + ", where the user puts nothing");
            if (!contributes && place(r.where()) == static_cast<std::size_t>(memory::in))
                fail(i, " writes to " + text_of(r) + ", which is the user's operand");
            if (!contributes && !s.open)
                fail(i, " writes to " + text_of(r) + ", which the collective leaves alone");
            if (!contributes && s.awaited)
                fail(i, " writes to " + text_of(r) + " before the contribution is there");
            if (s.writer != none) need(s.writer, i, r);
            for (auto const reader : s.readers) need(reader, i, r);
        });
        if (m_violation) return;
        join(place(r.where()), r, i);
    }
    /// What instruction i writes becomes one stretch; whether it is open may differ in it.
    void join(std::size_t where, region const& r, index i) {
        auto& map = m_stretches[where];
        auto const last = cut_at(map, r.end());
        for (auto s = map.find(r.offset()); s != last;) {
            auto& written = s->second;
            written.there = true;
            written.awaited = false;
            written.writer = i;
            written.readers.clear();
            auto const next = std::next(s);
            if (next == last || next->second.open != written.open) {
                s = next;
                continue;
            }
            written.end = next->second.end;
            map.erase(next);
        }
    }

    /// Instruction i has to wait for an earlier one.
    void need(index earlier, index i, region const& r) {
        if (earlier == i || m_violation || waits_for(i, earlier)) return;
        fail(i,
             " does not wait for " + text_of(m_program, m_rank, earlier) + ", though both use " + text_of(r));
    }
    [[nodiscard]] auto waits_for(index i, index earlier) -> bool {
        auto const direct = m_program.waits_of(i);
        if (std::binary_search(direct.begin(), direct.end(), earlier)) return true;
        m_open.assign(1, i);
        auto const stamp = ++m_search;
        while (!m_open.empty()) {
            auto const at = m_open.back();
            m_open.pop_back();
            for (auto const w : m_program.waits_of(at)) {
                if (w == earlier) return true;
                if (w < earlier || m_seen[w] == stamp) continue;
                m_seen[w] = stamp;
                m_open.push_back(w);
            }
        }
        return false;
    }
    void fail(index i, std::string const& what) {
        if (!m_violation) m_violation = text_of(m_program, m_rank, i) + what;
    }

    program const& m_program;
    int m_rank;
    std::array<stretch_map, memory_kinds> m_stretches;
    std::vector<std::size_t> m_seen; // in which search
    std::vector<index> m_open;
    std::size_t m_search = 0;
    verdict m_violation;
};

} // namespace papcoll::inline v0::detail
