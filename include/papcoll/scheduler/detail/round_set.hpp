// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/transfer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// Which processes take part in each round of Clairvoyant, in the order in which they become available.
///
/// Every round makes its processes available one round time later, so the fraction (time since the first
/// arrival) mod round never changes. Processes are numbered by their place in the order of (fraction, rank);
/// a time is a pair (quotient, position), which cannot overflow however many rounds pass. A round has all
/// times in [head, head + round): read cyclically from the head's position, that is the order of positions,
/// so arrivals are merged in and no priority queue is needed (paper 1, section 5.2).
///
/// A template only so that each search, and with it each instruction set, has functions of its own.
template <class Search>
class round_set {
public:
    round_set(problem const& p, ticks round)
        : m_ranks(static_cast<std::size_t>(p.ranks))
        , m_fractions(static_cast<std::size_t>(p.ranks))
        , m_awaiting(static_cast<std::size_t>(p.ranks)) {
        auto const since_first = times_since_first(p);
        auto const length = static_cast<std::uint64_t>(round.count());
        auto const fraction = [&](int rank) { return since_first[static_cast<std::size_t>(rank)] % length; };
        std::iota(m_ranks.begin(), m_ranks.end(), 0);
        std::sort(m_ranks.begin(), m_ranks.end(),
                  [&](int a, int b) { return std::pair(fraction(a), a) < std::pair(fraction(b), b); });
        for (std::size_t i = 0; i < m_ranks.size(); ++i) {
            m_fractions[i] = fraction(m_ranks[i]);
            auto const since = since_first[static_cast<std::size_t>(m_ranks[i])];
            m_awaiting[i] = {static_cast<std::int64_t>(since / length), static_cast<int>(i)};
        }
        std::sort(m_awaiting.begin(), m_awaiting.end());
    }

    /// The rank at each position.
    [[nodiscard]] auto ranks() const -> std::span<int const> { return m_ranks; }
    /// The round's number, counted from the first arrival, idle rounds included.
    [[nodiscard]] auto step() const -> step_type { return m_step; }
    /// Positions of the processes of the round, the head first.
    [[nodiscard]] auto active() const -> std::span<int const> { return m_active; }

    /// Goes to the next round with at least two processes, calling join(position) for each new one; false
    /// when there is none. Rounds with one process are skipped in O(1).
    template <class Join>
    [[nodiscard]] auto next(Join const& join) -> bool {
        if (m_active.empty()) {
            m_head = m_awaiting.front();
        } else {
            ++m_step;
            m_head = {m_head.first + 1 + (m_active.front() < m_head.second ? 1 : 0), m_active.front()};
        }
        admit(join);
        if (m_active.size() == 1 && m_arrived < m_awaiting.size()) {
            skip_idle();
            admit(join);
        }
        return m_active.size() > 1;
    }

    /// Takes out of the coming rounds whoever satisfies the predicate. At least one process must stay.
    template <class Predicate>
    void drop_if(Predicate const& predicate) {
        m_active.erase(std::remove_if(m_active.begin(), m_active.end(), predicate), m_active.end());
    }

private:
    /// Quotient and position, ordered as times are, ties by rank.
    using time = std::pair<std::int64_t, int>;

    static auto times_since_first(problem const& p) -> std::vector<std::uint64_t> {
        std::vector<std::uint64_t> times(static_cast<std::size_t>(p.ranks), 0);
        if (p.arrivals.empty()) return times;
        auto const [first, last] = std::minmax_element(p.arrivals.begin(), p.arrivals.end());
        auto const since_first = [origin = static_cast<std::uint64_t>(first->count())](ticks t) {
            return static_cast<std::uint64_t>(t.count()) - origin;
        };
        if (auto const spread = since_first(*last); spread > std::uint64_t{1} << 62)
            throw std::invalid_argument(
                "papcoll: problem.arrivals must not differ by more than 2^62 ns, but they "
                "do by " +
                std::to_string(spread));
        std::transform(p.arrivals.begin(), p.arrivals.end(), times.begin(), since_first);
        return times;
    }

    [[nodiscard]] auto fraction(int position) const -> std::uint64_t {
        return m_fractions[static_cast<std::size_t>(position)];
    }

    /// Whether an arrival lies before head + round. Not an order of times: at equal fractions the rank must
    /// not let one in.
    [[nodiscard]] auto in_round(time arrival) const -> bool {
        auto const later = arrival.first - m_head.first;
        return later < 1 || (later == 1 && fraction(arrival.second) < fraction(m_head.second));
    }

    template <class Join>
    void admit(Join const& join) {
        if (m_arrived < m_awaiting.size()) m_head = std::min(m_head, m_awaiting[m_arrived]);
        auto const ranks = static_cast<int>(m_ranks.size());
        auto const behind_head = [&](int position) {
            return position - m_head.second + (position < m_head.second ? ranks : 0);
        };
        m_arrivals.clear();
        for (; m_arrived < m_awaiting.size() && in_round(m_awaiting[m_arrived]); ++m_arrived) {
            m_arrivals.push_back(m_awaiting[m_arrived].second);
            join(m_arrivals.back());
        }
        if (m_arrivals.empty()) return;
        m_merged.resize(m_active.size() + m_arrivals.size());
        std::merge(m_active.begin(), m_active.end(), m_arrivals.begin(), m_arrivals.end(), m_merged.begin(),
                   [&](int a, int b) { return behind_head(a) < behind_head(b); });
        m_active.swap(m_merged);
    }

    /// To the first round that has the next arrival in it: the smallest j such that arrival < head + (j + 1)
    /// rounds.
    void skip_idle() {
        auto const [quotient, position] = m_awaiting[m_arrived];
        auto const rounds = quotient - m_head.first - (fraction(position) < fraction(m_head.second) ? 1 : 0);
        m_step += rounds;
        m_head.first += rounds;
    }

    std::vector<int> m_ranks;
    std::vector<std::uint64_t> m_fractions;
    std::vector<time> m_awaiting; ///< all arrivals, sorted
    std::size_t m_arrived = 0;    ///< how many of them take part already
    std::vector<int> m_active;
    std::vector<int> m_arrivals;
    std::vector<int> m_merged;
    time m_head{0, 0};
    step_type m_step = 0;
};

} // namespace papcoll::inline v0::detail
