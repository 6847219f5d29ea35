// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/scheduler/tree/reduction_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// What one block costs where ranks and links differ.
struct uneven_costs {
    /// How long rank r takes to combine two values: one time for each rank, or one for all.
    std::vector<ticks> compute_times = {ticks{0}};
    /// How long the value travels: from rank s to rank r at [s P + r] of P ranks, or one time for all pairs.
    std::vector<ticks> transfer_times = {ticks{1}};

    /// Of rank r.
    [[nodiscard]] auto compute_time(int r) const -> ticks {
        return compute_times[compute_times.size() == 1 ? 0 : static_cast<std::size_t>(r)];
    }
    /// From rank s to rank r of so many.
    [[nodiscard]] auto transfer_time(int ranks, int s, int r) const -> ticks {
        if (transfer_times.size() == 1) return transfer_times.front();
        return transfer_times[static_cast<std::size_t>(s) * static_cast<std::size_t>(ranks) +
                              static_cast<std::size_t>(r)];
    }
};

namespace detail {

/// Throws std::invalid_argument unless there are times for all ranks and pairs, none is negative, and their
/// sums fit.
inline void check_uneven_costs(int ranks, uneven_costs const& costs) {
    auto const p = static_cast<std::size_t>(ranks);
    auto const compute = costs.compute_times.size(), transfer = costs.transfer_times.size();
    require(compute == 1 || compute == p, "compute_times must be one for all ranks or one for each",
            static_cast<long long>(compute));
    require(transfer == 1 || transfer == p * p,
            "transfer_times must be one for all pairs of ranks or one for each",
            static_cast<long long>(transfer));
    for (auto const t : costs.compute_times) check_tree_costs(ranks, ticks{0}, t);
    for (auto const t : costs.transfer_times) check_tree_costs(ranks, t, ticks{0});
}

/// Grows a tree from its end where costs differ. Times count back from the end. A rank that combines values
/// of its children does so without a pause, one transfer to it at a time, both as late as they may be.
class uneven_growth {
public:
    uneven_growth(int ranks, int root, uneven_costs const& costs)
        : m_ranks(ranks)
        , m_costs(costs)
        , m_machine_of(static_cast<std::size_t>(ranks), -1)
        , m_combined(static_cast<std::size_t>(ranks))
        , m_port(static_cast<std::size_t>(ranks)) {
        enter(root, -1, ticks{0});
    }

    /// When the transfer begins that rank `from` would make next to rank `to`, which is in the tree.
    [[nodiscard]] auto begin_of(int from, int to) const -> ticks {
        auto const t = static_cast<std::size_t>(to);
        return std::max(m_combined[t] + m_costs.compute_time(to), m_port[t]) +
               m_costs.transfer_time(m_ranks, from, to);
    }
    void attach(int from, int to) {
        auto const begin = begin_of(from, to);
        auto const t = static_cast<std::size_t>(to);
        m_combined[t] += m_costs.compute_time(to);
        m_port[t] = begin;
        enter(from, m_machine_of[t], begin);
    }
    [[nodiscard]] auto has(int rank) const -> bool {
        return m_machine_of[static_cast<std::size_t>(rank)] >= 0;
    }
    /// In the order of attachment.
    [[nodiscard]] auto ranks() const -> std::vector<int> const& { return m_placed.rank; }
    [[nodiscard]] auto finish() const -> ticks {
        return *std::max_element(m_placed.tree.remaining.begin(), m_placed.tree.remaining.end());
    }
    /// The tree; machines in the order of their transfers, back from the end.
    [[nodiscard]] auto tree() const -> rank_tree {
        std::vector<std::size_t> order(m_placed.rank.size());
        std::iota(order.begin(), order.end(), std::size_t(0));
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return m_placed.tree.remaining[a] < m_placed.tree.remaining[b];
        });
        std::vector<int> machine(order.size());
        for (std::size_t i = 0; i < order.size(); ++i) machine[order[i]] = static_cast<int>(i);
        rank_tree result;
        for (auto const i : order) {
            auto const parent = m_placed.tree.parent[i];
            result.rank.push_back(m_placed.rank[i]);
            result.tree.parent.push_back(parent < 0 ? 0 : machine[static_cast<std::size_t>(parent)]);
            result.tree.remaining.push_back(m_placed.tree.remaining[i]);
        }
        result.tree.finish = finish();
        return result;
    }

private:
    void enter(int rank, int parent, ticks begin) {
        auto const r = static_cast<std::size_t>(rank);
        m_machine_of[r] = static_cast<int>(m_placed.rank.size());
        m_placed.rank.push_back(rank);
        m_placed.tree.parent.push_back(parent);
        m_placed.tree.remaining.push_back(begin);
        m_combined[r] = m_port[r] = begin;
    }

    int m_ranks;
    uneven_costs const& m_costs;
    std::vector<int> m_machine_of;         // by rank; -1: it is not in the tree
    std::vector<ticks> m_combined, m_port; // when a rank's combinations and its receives have begun
    rank_tree m_placed;
};

/// Attaches, again and again, the pair of ranks of which `value(from, begin)` is least, where `begin` is when
/// the transfer begins.
template <class Value>
auto grow_uneven_by(int ranks, int root, uneven_costs const& costs, Value value) -> uneven_growth {
    uneven_growth growth(ranks, root, costs);
    std::vector<int> best(static_cast<std::size_t>(ranks), root); // receiver of each rank
    for (int attached = 1; attached < ranks; ++attached) {
        int next = -1;
        ticks least = ticks::max();
        for (int r = 0; r < ranks; ++r) {
            if (growth.has(r)) continue;
            auto const here = value(r, growth.begin_of(r, best[static_cast<std::size_t>(r)]));
            if (next < 0 || here < least) next = r, least = here;
        }
        int const to = best[static_cast<std::size_t>(next)];
        growth.attach(next, to);
        for (int r = 0; r < ranks; ++r) {
            if (growth.has(r)) continue;
            auto& mine = best[static_cast<std::size_t>(r)];
            if (mine == to)
                for (int const other : growth.ranks())
                    if (growth.begin_of(r, other) < growth.begin_of(r, mine)) mine = other;
            if (growth.begin_of(r, next) < growth.begin_of(r, mine)) mine = next;
        }
    }
    return growth;
}

/// The least that a rank, once it is in the tree, needs for a child.
inline auto least_next(int ranks, uneven_costs const& costs) -> std::vector<ticks> {
    std::vector<ticks> result;
    for (int r = 0; r < ranks; ++r) {
        ticks least = ranks > 1 ? ticks::max() : ticks{0};
        for (int s = 0; s < ranks; ++s)
            if (s != r) least = std::min(least, costs.transfer_time(ranks, s, r));
        result.push_back(least + costs.compute_time(r));
    }
    return result;
}

} // namespace detail

/// A tree for ranks and links of different speeds, all of which are there from the start: the heterogeneous
/// costs that paper 2 leaves to future work. A short tree, not the shortest, which is hard to find: from its
/// end, the rank is attached next whose transfer begins latest; or that which could receive next latest, as
/// broadcasts are built that look ahead (Bhat, Raghavendra and Prasanna, Efficient collective communication
/// in distributed heterogeneous systems, 1999); the shorter of the two. With equal costs it is as short as
/// grow_greedy_tree()'s, which is the shortest.
///
/// `tree.remaining` says when transfers begin; its transfer_time and compute_time, which differ, are zero.
/// O(P²) for P ranks and O(P³) at worst. Throws std::invalid_argument for costs that are not there for all,
/// negative, or too large, and for a root out of range.
[[nodiscard]] inline auto grow_uneven_tree(int ranks, int root, uneven_costs const& costs) -> rank_tree {
    detail::require(ranks >= 1, "there must be a rank", ranks);
    detail::require(root >= 0 && root < ranks, "root must be a rank", root);
    detail::check_uneven_costs(ranks, costs);
    auto const next = detail::least_next(ranks, costs);
    auto const nearest = detail::grow_uneven_by(ranks, root, costs, [](int, ticks begin) { return begin; });
    auto const ahead = detail::grow_uneven_by(ranks, root, costs, [&](int from, ticks begin) {
        return begin + next[static_cast<std::size_t>(from)];
    });
    return (nearest.finish() <= ahead.finish() ? nearest : ahead).tree();
}

/// The same tree, every rank's children in the same order, with the least times that these costs permit.
[[nodiscard]] inline auto retimed(rank_tree const& placed, uneven_costs const& costs) -> rank_tree {
    int const ranks = placed.tree.machines();
    detail::check_uneven_costs(ranks, costs);
    detail::uneven_growth growth(ranks, placed.rank.front(), costs);
    for (std::size_t i = 1; i < placed.rank.size(); ++i)
        growth.attach(placed.rank[i], placed.rank[static_cast<std::size_t>(placed.tree.parent[i])]);
    return growth.tree();
}

} // namespace papcoll::inline v0
