// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The state of a broadcast, round by round: who has which blocks, and who is ready.
class broadcast_rounds {
public:
    broadcast_rounds(problem const& p, ticks round)
        : m_problem(p)
        , m_round(static_cast<std::uint64_t>(round.count()))
        , m_late(static_cast<std::size_t>(p.ranks), 0)
        , m_has(static_cast<std::size_t>(p.ranks) * static_cast<std::size_t>(p.blocks), false)
        , m_held(static_cast<std::size_t>(p.ranks), 0)
        , m_copies(static_cast<std::size_t>(p.blocks), 1)
        , m_rarest(static_cast<std::size_t>(p.blocks)) {
        for (int rank = 0; rank < p.ranks && !p.arrivals.empty(); ++rank)
            m_late[index(rank)] = static_cast<std::uint64_t>(p.arrival(rank).count()) -
                                  static_cast<std::uint64_t>(first_arrival().count());
        for (int block = 0; block < p.blocks; ++block) has(p.root, block) = true;
        m_held[index(p.root)] = p.blocks;
        m_now = m_late[index(p.root)];
        std::iota(m_rarest.begin(), m_rarest.end(), 0);
    }

    /// Calls sink(transfer) for all transfers, in the order of steps.
    template <class Sink>
    void run(Sink&& sink) {
        int missing = m_problem.ranks - 1;
        for (step_type step = 0; missing > 0;) {
            find_ready();
            if (m_receivers.empty()) {
                m_now = next_arrival();
                continue;
            }
            for (int const to : m_receivers)
                if (auto const t = find(to); t.from >= 0) {
                    m_busy[index(t.from)] = true;
                    m_came.push_back(t);
                }
            for (auto const& t : m_came) {
                sink(transfer{step, t.from, t.to, t.block});
                has(t.to, t.block) = true;
                ++m_copies[index(t.block)];
                missing -= ++m_held[index(t.to)] == m_problem.blocks ? 1 : 0;
            }
            m_came.clear();
            ++step;
            m_now += std::min(m_round, never - m_now);
        }
    }

private:
    struct move {
        int from, to, block;
    };
    static constexpr std::uint64_t never = ~std::uint64_t{0};
    static auto index(int i) -> std::size_t { return static_cast<std::size_t>(i); }
    auto has(int rank, int block) -> std::vector<bool>::reference {
        return m_has[index(rank) * index(m_problem.blocks) + index(block)];
    }
    [[nodiscard]] auto first_arrival() const -> ticks {
        return *std::min_element(m_problem.arrivals.begin(), m_problem.arrivals.end());
    }
    [[nodiscard]] auto next_arrival() const -> std::uint64_t {
        std::uint64_t next = never;
        for (auto const late : m_late)
            if (late > m_now) next = std::min(next, late);
        return next;
    }
    /// Who has come, and lacks something: those with the least first.
    void find_ready() {
        m_receivers.clear();
        m_busy.assign(m_late.size(), true);
        for (int rank = 0; rank < m_problem.ranks; ++rank) {
            if (m_late[index(rank)] > m_now) continue;
            m_busy[index(rank)] = m_held[index(rank)] == 0;
            if (m_held[index(rank)] < m_problem.blocks) m_receivers.push_back(rank);
        }
        std::stable_sort(m_receivers.begin(), m_receivers.end(),
                         [&](int a, int b) { return m_held[index(a)] < m_held[index(b)]; });
        std::stable_sort(m_rarest.begin(), m_rarest.end(),
                         [&](int a, int b) { return m_copies[index(a)] < m_copies[index(b)]; });
    }
    /// The rarest block that somebody can send to `to`, from who has the least.
    auto find(int to) -> move {
        for (int const block : m_rarest) {
            if (has(to, block)) continue;
            int best = -1;
            for (int from = 0; from < m_problem.ranks; ++from)
                if (!m_busy[index(from)] && from != to && has(from, block) &&
                    (best < 0 || m_held[index(from)] < m_held[index(best)]))
                    best = from;
            if (best >= 0) return {best, to, block};
        }
        return {-1, to, -1};
    }

    problem const& m_problem;
    std::uint64_t m_round;
    std::uint64_t m_now = 0; // since the first arrival
    std::vector<std::uint64_t> m_late;
    std::vector<bool> m_has;
    std::vector<int> m_held;
    std::vector<int> m_copies;
    std::vector<int> m_rarest; // blocks, those that few have first
    std::vector<int> m_receivers;
    std::vector<bool> m_busy; // sends in this round, or has nothing to send
    std::vector<move> m_came;
};

} // namespace detail

/// A broadcast to ranks that become ready at known times: paper 1 (Proficz, Ocetkiewicz) names it as future
/// work. As Clairvoyant's reduction it goes by rounds of the time of one block: whoever has arrived takes
/// part in the round, others are waited for by nobody. In a round each rank sends one block at most and
/// receives one at most; who has the least receives first, the block that the fewest have, from who has the
/// least of those that have it. Ties go to the smaller number.
///
/// It is no time-reversed Clairvoyant: reversed, arrivals become the times at which ranks are done.
///
/// O(P² N) at worst for each round, O(P² N (N + log P)) in all, whatever a rank's share: for models, and for
/// few ranks. Owners must be the root.
struct arrival_broadcast_scheduler {
    /// How long the transfer of a block takes.
    ticks round{1};

    static constexpr schedule_kind kind = schedule_kind::dissemination;

    /// Everything but the problem that the schedule depends on.
    [[nodiscard]] auto fingerprint() const -> std::vector<std::int64_t> { return {round.count()}; }
    /// All transfers. Throws std::invalid_argument for malformed problems and rounds that take no time.
    [[nodiscard]] auto transfers(problem const& p) const -> std::vector<transfer> {
        check(p);
        detail::require(round.count() > 0, "round must be positive", round.count());
        for (int const owner : p.owners)
            detail::require(owner == p.root, "every entry of problem.owners must be the root", owner);
        std::vector<transfer> all;
        detail::broadcast_rounds(p, round).run([&](transfer const& t) { all.push_back(t); });
        std::sort(all.begin(), all.end());
        return all;
    }
    /// Throws as transfers does.
    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> rank_schedule {
        rank_schedule share;
        for (auto const& t : transfers(p)) {
            if (t.from == rank) share.sends.push_back({t.step, t.to, t.block});
            if (t.to == rank) share.receives.push_back({t.step, t.from, t.block});
        }
        return share;
    }
};

} // namespace papcoll::inline v0
