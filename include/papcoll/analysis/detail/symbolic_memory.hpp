// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis/detail/combined_values.hpp>
#include <papcoll/program/program.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

namespace papcoll::inline v0::detail {

/// Elements in a row of one value: with the numbers first, first + 1, ….
struct value_run {
    /// In place of a value: there is none.
    static constexpr auto nothing = static_cast<combined_values::value>(-1);

    combined_values::value value = nothing;
    std::size_t first = 0;
    std::size_t count = 0;
};

/// What one rank's memory holds, as runs of values.
class symbolic_memory {
public:
    explicit symbolic_memory(bool in_place)
        : m_in_place(in_place) {}

    /// Appends what is there.
    void read(region const& r, std::vector<value_run>& to) const {
        auto const& map = of(r.where());
        auto at = r.offset();
        auto s = map.upper_bound(at);
        if (s != map.begin()) --s;
        while (at < r.end()) {
            while (s != map.end() && s->first + s->second.count <= at) ++s;
            auto const next = s == map.end() ? r.end() : std::min(std::max(s->first, at), r.end());
            if (next > at) to.push_back({value_run::nothing, 0, next - at});
            at = next;
            if (at == r.end()) return;
            auto const& run = s->second;
            auto const count = std::min(s->first + run.count, r.end()) - at;
            to.push_back({run.value, run.first + (at - s->first), count});
            at += count;
        }
    }
    /// The next elements of `from`, of which the first `skipped` were taken before, come here.
    void write(region const& r, std::vector<value_run> const& from, std::size_t& next, std::size_t& skipped) {
        auto& map = of(r.where());
        erase(map, r.offset(), r.end());
        auto hint = map.lower_bound(r.end());
        for (auto at = r.offset(); at < r.end();) {
            auto const& run = from[next];
            auto const count = std::min(run.count - skipped, r.end() - at);
            if (run.value != value_run::nothing)
                hint = std::next(put(map, hint, at, {run.value, run.first + skipped, count}));
            at += count;
            skipped += count;
            if (skipped < run.count) continue;
            ++next;
            skipped = 0;
        }
    }
    void write(region const& r, value_run const& run) {
        std::size_t next = 0, skipped = 0;
        write(r, {run}, next, skipped);
    }

private:
    using run_map = std::map<std::size_t, value_run>; // by where they begin

    [[nodiscard]] auto place(memory where) const -> std::size_t {
        return static_cast<std::size_t>(m_in_place && where == memory::in ? memory::out : where);
    }
    auto of(memory where) -> run_map& { return m_runs[place(where)]; }
    [[nodiscard]] auto of(memory where) const -> run_map const& { return m_runs[place(where)]; }

    static void erase(run_map& map, std::size_t begin, std::size_t end) {
        auto s = map.lower_bound(begin);
        if (s != map.begin()) {
            auto& [offset, run] = *std::prev(s);
            auto const run_end = offset + run.count;
            if (run_end > begin) {
                run.count = begin - offset;
                if (run_end > end) {
                    map.emplace_hint(s, end, value_run{run.value, run.first + (end - offset), run_end - end});
                    return;
                }
            }
        }
        while (s != map.end() && s->first < end) {
            auto const rest = s->first + s->second.count;
            auto const run = s->second;
            auto const cut = end - s->first;
            s = map.erase(s);
            if (rest > end) map.emplace_hint(s, end, value_run{run.value, run.first + cut, run.count - cut});
        }
    }
    /// Where it goes on with the run before, it becomes one with it.
    static auto put(run_map& map, run_map::iterator hint, std::size_t at, value_run const& run)
        -> run_map::iterator {
        if (hint != map.begin()) {
            auto const before = std::prev(hint);
            auto& b = before->second;
            if (before->first + b.count == at && b.value == run.value && b.first + b.count == run.first) {
                b.count += run.count;
                return before;
            }
        }
        return map.emplace_hint(hint, at, run);
    }

    bool m_in_place;
    std::array<run_map, memory_kinds> m_runs;
};

} // namespace papcoll::inline v0::detail
