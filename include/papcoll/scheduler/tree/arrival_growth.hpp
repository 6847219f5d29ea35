// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/scheduler/tree/greedy.hpp>
#include <papcoll/scheduler/tree/reduction_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// How long before the last arrival each rank arrives, cut off at `most`: differences of any two ticks.
inline auto earliness(problem const& p, ticks most) -> std::vector<ticks> {
    std::vector<ticks> early(static_cast<std::size_t>(p.ranks), ticks{0});
    if (p.arrivals.empty()) return early;
    auto const last =
        static_cast<std::uint64_t>(std::max_element(p.arrivals.begin(), p.arrivals.end())->count());
    auto const cut = static_cast<std::uint64_t>(most.count());
    for (std::size_t rank = 0; rank < early.size(); ++rank) {
        auto const before = last - static_cast<std::uint64_t>(p.arrivals[rank].count());
        early[rank] = ticks{static_cast<ticks::rep>(std::min(before, cut))};
    }
    return early;
}

/// Grows, from its end, a tree that finishes `slack` after the last arrival, or finds that there is none.
///
/// Going back, a rank that arrived `early` before the last one is there for early + slack: by then its own
/// transfer and its children's must have begun, and one place of the tree must stop serving. All other places
/// serve as soon as they can, as in grow_greedy_tree(). A place gets its rank when it must stop: the one that
/// is available last stops first, for the others it leaves then serve no later than any other choice would.
/// Only the root's place is given. Places not served stand in `fresh`, others in `again`, both in order of
/// time, so the place to serve is at one of the heads and the place to stop at one of the ends.
class arrival_growth {
public:
    arrival_growth(problem const& p, ticks transfer_time, ticks compute_time, ticks latency)
        : m_count(static_cast<std::size_t>(p.ranks))
        , m_root(p.root)
        , m_hop(latency + transfer_time + compute_time)
        , m_next(std::max(transfer_time, compute_time))
        , m_early(earliness(p, p.ranks * m_hop)) {
        for (int rank = 0; rank < p.ranks; ++rank)
            if (rank != p.root) m_leaving.push_back(rank);
        std::stable_sort(m_leaving.begin(), m_leaving.end(),
                         [&](int a, int b) { return early(a) < early(b); });
        m_placed.tree.parent.resize(m_count);
        m_placed.tree.remaining.resize(m_count);
        m_placed.tree.transfer_time = latency + transfer_time;
        m_placed.tree.compute_time = compute_time;
        m_placed.rank.resize(m_count);
        m_placed.rank[0] = p.root;
    }

    /// Whether there is a tree; then placed() is one.
    [[nodiscard]] auto grow(ticks slack) -> bool {
        m_fresh.clear();
        m_again.clear();
        m_stopped = 0;
        ticks root_available{0};
        for (std::size_t attached = 1; attached < m_count;) {
            auto const next = next_server(root_available, slack);
            if (m_stopped < m_leaving.size() &&
                early(m_leaving[m_stopped]) + slack < next.available + m_hop) {
                if (!stop_one()) return false;
            } else {
                attach(attached++, next);
                if (next.from == nullptr) root_available += m_next;
            }
        }
        while (stop_one()) {
        }
        return true;
    }

    /// The tree that was grown. Ranks that can take each other's places, since they arrive together or are
    /// there before any place must be, are given out anew: a subtree gets ranks in a row, as far as it may,
    /// which share a node where nodes have ranks in a row.
    [[nodiscard]] auto placed(ticks slack) && -> rank_tree {
        auto const earliest = m_placed.tree.remaining.back() - slack; // what the last place needs
        auto const needed = [&](int rank) { return std::min(early(rank), earliest); };
        int const ranks = static_cast<int>(m_count);
        auto const beyond_root = [&](int rank) { return (rank - m_root + ranks) % ranks; };
        std::sort(m_leaving.begin(), m_leaving.end(), [&](int a, int b) {
            return std::pair(needed(a), beyond_root(a)) < std::pair(needed(b), beyond_root(b));
        });
        // The places of each kind of ranks, subtree by subtree, which m_leaving has in the same order.
        auto places = in_subtrees();
        std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
            return needed(m_placed.rank[a]) < needed(m_placed.rank[b]);
        });
        for (std::size_t k = 0; k < places.size(); ++k) m_placed.rank[places[k]] = m_leaving[k];
        return std::move(m_placed);
    }

private:
    struct place {
        std::size_t machine;
        ticks available;
    };
    struct queue {
        std::vector<place> places;
        std::size_t head = 0;
        [[nodiscard]] auto empty() const -> bool { return head == places.size(); }
        void clear() {
            places.clear();
            head = 0;
        }
    };
    struct server {
        queue* from; // none: the root
        std::size_t machine;
        ticks available;
    };

    [[nodiscard]] auto early(int rank) const -> ticks { return m_early[static_cast<std::size_t>(rank)]; }

    /// All places but the root's: each before those below it, which come one behind the other, and of two
    /// subtrees the one that was attached last, which is the smaller one.
    [[nodiscard]] auto in_subtrees() const -> std::vector<std::size_t> {
        std::vector<std::size_t> size(m_count, 1), before(m_count), result(m_count - 1);
        auto const parent = [&](std::size_t k) { return static_cast<std::size_t>(m_placed.tree.parent[k]); };
        for (std::size_t k = m_count; --k > 0;) {
            before[k] = size[parent(k)];
            size[parent(k)] += size[k];
        }
        for (std::size_t k = 1; k < m_count; ++k) {
            before[k] += before[parent(k)];
            result[before[k] - 1] = k;
        }
        return result;
    }

    // Of equal times the root's goes first.
    auto next_server(ticks root_available, ticks slack) -> server {
        bool const root_serves = root_available + m_hop <= early(m_root) + slack;
        server next{nullptr, 0, root_serves ? root_available : never};
        for (auto* from : {&m_again, &m_fresh})
            if (!from->empty() && from->places[from->head].available < next.available)
                next = {from, from->places[from->head].machine, from->places[from->head].available};
        return next;
    }

    void attach(std::size_t machine, server const& to) {
        ticks const begin = to.available + m_hop;
        m_placed.tree.parent[machine] = static_cast<int>(to.machine);
        m_placed.tree.remaining[machine] = begin;
        m_fresh.places.push_back({machine, begin});
        if (to.from == nullptr) return;
        ++to.from->head;
        m_again.places.push_back({to.machine, to.available + m_next});
    }

    /// The place that would serve last goes to the next rank that leaves. False: there is no place.
    auto stop_one() -> bool {
        if (m_fresh.empty() && m_again.empty()) return false;
        bool const fresh = m_again.empty() || (!m_fresh.empty() && m_fresh.places.back().available >=
                                                                       m_again.places.back().available);
        auto& from = fresh ? m_fresh : m_again;
        m_placed.rank[from.places.back().machine] = m_leaving[m_stopped++];
        from.places.pop_back();
        return true;
    }

    static constexpr ticks never{std::numeric_limits<ticks::rep>::max() / 2};

    std::size_t m_count;
    int m_root;
    ticks m_hop;
    ticks m_next;
    std::vector<ticks> m_early;
    std::vector<int> m_leaving; // all but the root, the last to arrive first
    rank_tree m_placed;
    queue m_fresh;
    queue m_again;
    std::size_t m_stopped = 0;
};

} // namespace detail

/// The tree that completes the reduction at problem.root first when each rank takes part from its arrival on:
/// it sends, receives and combines nothing before. `transfer_time` and `compute_time` are the costs of
/// grow_greedy_tree(); a value travels `latency` longer, while both ranks may send and receive others, as in
/// the LogP model (Karp, Sahay, Santos, Schauser, Optimal Broadcast and Summation in the LogP Model, 1993:
/// their optimal tree, where all arrive together and combining costs nothing).
///
/// For a given end the construction decides whether any tree meets it (see detail::arrival_growth), and the
/// later the end the more is possible: so the earliest end is found by bisection. It lies between one
/// transfer and combination after the last arrival and the length of grow_greedy_tree() after it. That no
/// tree is faster is argued above and was compared with all trees of up to 8 ranks.
///
/// `tree.finish` and the times of tree_transfers() are on the clock of the arrivals, and `tree.transfer_time`
/// is the time that a value travels, with the latency. With both costs zero a
/// transfer counts as one tick, so that the order still follows the arrivals. O(P (log P + log L)) for P
/// ranks and L ticks of grow_greedy_tree(). Throws what grow_greedy_tree() throws.
[[nodiscard]] inline auto grow_arrival_tree(problem const& p, ticks transfer_time, ticks compute_time,
                                            ticks latency = ticks{0}) -> rank_tree {
    check(p);
    detail::check_tree_costs(p.ranks, transfer_time, compute_time);
    detail::require(latency.count() >= 0, "latency must not be negative", latency.count());
    detail::check_tree_costs(p.ranks, latency, compute_time);
    if (transfer_time + compute_time == ticks{0}) transfer_time = ticks{1};
    detail::arrival_growth growth(p, transfer_time, compute_time, latency);
    ticks enough = grow_greedy_tree(p.ranks, latency + transfer_time, compute_time).finish;
    ticks too_little{-1};
    if (ticks const one = latency + transfer_time + compute_time; one <= enough) {
        too_little = one - ticks{1};
        if (growth.grow(one)) enough = one; // one rank is late
    }
    while (enough - too_little > ticks{1}) {
        ticks const middle = too_little + (enough - too_little) / 2;
        (growth.grow(middle) ? enough : too_little) = middle;
    }
    (void)growth.grow(enough);
    rank_tree placed = std::move(growth).placed(enough);
    auto const last = p.arrivals.empty() ? ticks{0} : *std::max_element(p.arrivals.begin(), p.arrivals.end());
    placed.tree.finish = last + std::min(enough, ticks::max() - std::max(last, ticks{0}));
    return placed;
}

} // namespace papcoll::inline v0
