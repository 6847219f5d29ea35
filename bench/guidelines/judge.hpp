// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../support/statistics.hpp"

/// Self-consistent performance guidelines (Träff, Gropp, Thakur 2010; Hunold, Carpen-Amarie 2014): what
/// measured times of collectives must keep, and whether they do.
namespace bench::guidelines {

/// What was measured: a collective of papcoll ("papcoll") or of the MPI library ("mpi").
struct call {
    std::string library;
    std::string operation;

    friend auto operator<(call const& a, call const& b) -> bool {
        return a.library != b.library ? a.library < b.library : a.operation < b.operation;
    }
};
/// Microseconds of each repetition, in which all calls of a size were made in turn.
using times = std::map<call, std::vector<double>>;

/// Ranks → bytes → times.
using measurements = std::map<int, std::map<std::size_t, times>>;

/// The bytes that are measured: a multiple of what gives every rank an element, so that what is divided is as
/// long as what is not.
[[nodiscard]] inline auto rounded(std::size_t bytes, int ranks) -> std::size_t {
    auto const step = sizeof(float) * static_cast<std::size_t>(ranks);
    return std::max<std::size_t>((bytes + step - 1) / step, 1) * step;
}

struct verdict {
    std::string guideline;
    std::string library; ///< whose collective is on the left side
    std::string operation;
    int ranks = 0;
    std::size_t bytes = 0;
    double ratio = 0; ///< of left to right
    interval confidence = {};
    double limit = 1;

    /// The true ratio exceeds the limit, with more than 95 % confidence.
    [[nodiscard]] auto is_violation() const -> bool { return confidence.low > limit; }
};

/// Left ≤ limit × right, where both were measured in the same repetitions.
[[nodiscard]] inline auto judge(std::vector<double> const& left, std::vector<double> const& right,
                                double limit) -> verdict {
    auto const each = ratios(left, right);
    verdict v;
    v.ratio = median(each);
    v.confidence = median_interval(each);
    v.limit = limit;
    return v;
}
/// The same where they were measured one after the other.
[[nodiscard]] inline auto judge_apart(std::vector<double> const& left, std::vector<double> const& right,
                                      double limit) -> verdict {
    verdict v;
    v.ratio = median(left) / median(right);
    v.confidence = ratio_interval(left, right);
    v.limit = limit;
    return v;
}

/// How much longer the left side may take.
struct limits {
    double library = 1.05;     ///< papcoll's default, beside the library's
    double composition = 1.05; ///< a collective, beside others that do the same
    double monotone = 1.05;    ///< m bytes, beside more
    double split = 1.05;       ///< k m bytes at once, beside k times m
    double jump = 1.15;        ///< on p + 1 ranks, beside p
};

/// One collective done by two.
struct composition {
    std::string_view operation, first, second;
};
inline constexpr composition compositions[] = {
    {"all_reduce", "reduce", "broadcast"},
    {"broadcast", "scatter", "all_gather"},
    {"reduce_scatter", "reduce", "scatter"},
    {"all_gather", "gather", "broadcast"},
    {"gather", "all_gather", ""},
};

/// The guidelines that papcoll and the MPI library keep or do not, from what was measured. Where papcoll has
/// no such collective the library's takes its place on the right.
class court {
public:
    explicit court(limits const& l)
        : m_limits(l) {}

    [[nodiscard]] auto judge_all(measurements const& all) -> std::vector<verdict> {
        m_verdicts.clear();
        for (auto const& [ranks, sizes] : all) {
            m_ranks = ranks;
            for (auto it = sizes.begin(); it != sizes.end(); ++it) {
                m_bytes = it->first;
                within(it->second);
                if (auto const next = std::next(it); next != sizes.end())
                    among_sizes(it->second, next->second,
                                static_cast<double>(rounded(next->first, ranks)) /
                                    static_cast<double>(rounded(m_bytes, ranks)));
            }
            if (auto const more = all.find(ranks + 1); more != all.end()) among_ranks(sizes, more->second);
        }
        return m_verdicts;
    }

    /// Those of one size, of which all repetitions have all calls.
    [[nodiscard]] auto judge_size(times const& at) -> std::vector<verdict> {
        m_verdicts.clear();
        within(at);
        return m_verdicts;
    }

private:
    void within(times const& at) {
        for (auto const& [what, own] : at) {
            if (what.library == "papcoll")
                if (auto const other = at.find({"mpi", what.operation}); other != at.end())
                    add("library", what, judge(own, other->second, m_limits.library));
            for (auto const& c : compositions)
                if (c.operation == what.operation) compose(at, what, own, c);
        }
    }
    void compose(times const& at, call const& what, std::vector<double> const& own, composition const& c) {
        auto const* const first = find(at, what.library, c.first);
        if (first == nullptr) return;
        auto sum = *first;
        auto name = "≤ " + std::string(c.first);
        if (!c.second.empty()) {
            auto const* const second = find(at, what.library, c.second);
            if (second == nullptr) return;
            for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += (*second)[i];
            name += " + " + std::string(c.second);
        }
        add(name, what, judge(own, sum, m_limits.composition));
    }
    /// T(m) ≤ T(k m) ≤ k T(m)
    void among_sizes(times const& less, times const& more, double k) {
        for (auto const& [what, own] : less) {
            auto const longer = more.find(what);
            if (longer == more.end()) continue;
            add("monotone", what, judge_apart(own, longer->second, m_limits.monotone));
            auto split = own;
            for (auto& time : split) time *= k;
            add("split", what, judge_apart(longer->second, split, m_limits.split));
        }
    }
    void among_ranks(std::map<std::size_t, times> const& few, std::map<std::size_t, times> const& more) {
        for (auto const& [bytes, at] : few) {
            auto const same = more.find(bytes);
            if (same == more.end()) continue;
            m_bytes = bytes;
            for (auto const& [what, own] : at)
                if (auto const other = same->second.find(what); other != same->second.end())
                    add("p + 1", what, judge_apart(other->second, own, m_limits.jump));
        }
    }

    [[nodiscard]] static auto find(times const& at, std::string const& library, std::string_view operation)
        -> std::vector<double> const* {
        auto found = at.find({library, std::string(operation)});
        if (found == at.end()) found = at.find({"mpi", std::string(operation)});
        return found == at.end() ? nullptr : &found->second;
    }
    void add(std::string name, call const& what, verdict v) {
        v.guideline = std::move(name);
        v.library = what.library;
        v.operation = what.operation;
        v.ranks = m_ranks;
        v.bytes = m_bytes;
        m_verdicts.push_back(std::move(v));
    }

    limits m_limits;
    int m_ranks = 0;
    std::size_t m_bytes = 0;
    std::vector<verdict> m_verdicts;
};

/// How many cells one guideline has, and how many violate it.
struct tally {
    int cells = 0;
    int violations = 0;
    double worst = 0;
};
[[nodiscard]] inline auto count(std::vector<verdict> const& all)
    -> std::map<std::pair<std::string, std::string>, tally> {
    std::map<std::pair<std::string, std::string>, tally> found;
    for (auto const& v : all) {
        auto& t = found[{v.library, v.guideline}];
        ++t.cells;
        t.violations += v.is_violation() ? 1 : 0;
        t.worst = std::max(t.worst, v.ratio);
    }
    return found;
}

} // namespace bench::guidelines
