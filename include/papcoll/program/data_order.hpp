// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/program/program.hpp>

#include <array>
#include <cstddef>
#include <iterator>
#include <map>
#include <vector>

namespace papcoll::inline v0::detail {

/// Finds out which earlier instructions the next one has to wait for, so that a program may be executed in
/// any order that these allow and does the same as one instruction after the other: a read waits for the
/// last write, a write for the last write and for the reads since.
class data_order {
public:
    using index = program::index;

    explicit data_order(bool in_place)
        : m_in_place(in_place) {}

    /// Instruction i reads r; appends what it waits for.
    void read(region const& r, index i, std::vector<index>& waits) {
        if (r.size() == 0) return;
        auto& stretches = of(r.where());
        auto const end = cut_at(stretches, r.end());
        auto s = cut_at(stretches, r.offset());
        for (auto at = r.offset(); at < r.end();) {
            if (s == end || s->first > at) { // the user's data, not touched before
                auto const next = s == end ? r.end() : s->first;
                s = stretches.emplace_hint(s, at, stretch{next});
            }
            auto& found = s->second;
            if (found.writer != none) waits.push_back(found.writer);
            if (found.readers == none || m_readers[found.readers].who != i) {
                m_readers.push_back({i, found.readers});
                found.readers = static_cast<index>(m_readers.size() - 1);
            }
            at = found.end;
            ++s;
        }
    }
    /// Instruction i writes r, after what it reads; appends what it waits for.
    void write(region const& r, index i, std::vector<index>& waits) {
        if (r.size() == 0) return;
        auto& stretches = of(r.where());
        auto const end = cut_at(stretches, r.end());
        auto const begin = cut_at(stretches, r.offset());
        for (auto s = begin; s != end; ++s) {
            if (s->second.writer != none && s->second.writer != i) waits.push_back(s->second.writer);
            for (auto k = s->second.readers; k != none; k = m_readers[k].before)
                if (m_readers[k].who != i) waits.push_back(m_readers[k].who);
        }
        auto const hint = stretches.erase(begin, end);
        stretches.emplace_hint(hint, r.offset(), stretch{r.end(), i});
    }

private:
    static constexpr index none = static_cast<index>(-1);

    struct stretch {
        std::size_t end;
        index writer = none;
        index readers = none; // the last one since then
    };
    struct reader {
        index who;
        index before; // the one before it; stretches that were one share it
    };
    using stretch_map = std::map<std::size_t, stretch>; // by where they begin

    auto of(memory where) -> stretch_map& {
        return m_stretches[m_in_place && where == memory::in ? static_cast<std::size_t>(memory::out)
                                                             : static_cast<std::size_t>(where)];
    }
    /// The first stretch that begins at `at` or behind it; one that reaches over it is cut.
    static auto cut_at(stretch_map& stretches, std::size_t at) -> stretch_map::iterator {
        auto const next = stretches.lower_bound(at);
        if (next == stretches.begin() || (next != stretches.end() && next->first == at)) return next;
        auto& before = std::prev(next)->second;
        if (before.end <= at) return next;
        auto const behind = stretches.emplace_hint(next, at, before);
        before.end = at;
        return behind;
    }

    bool m_in_place;
    std::array<stretch_map, memory_kinds> m_stretches;
    std::vector<reader> m_readers;
};

} // namespace papcoll::inline v0::detail
