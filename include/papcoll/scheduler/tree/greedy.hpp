// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/scheduler/tree/reduction_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// What a tree may use at most; 0: no limit.
struct tree_limits {
    /// Transfers under way at the same time.
    int transfers = 0;
    /// Machines that combine anything.
    int reducers = 0;
};

namespace detail {

/// Grows a greedy tree from its end. A machine that can serve stands in one of two queues: `fresh` ones have
/// no child yet and follow each other in the order of attachment; the others were last served when machine k
/// was attached to them, and follow in the order of k. Times grow along both, so the next one is at a head.
/// Both queues are in the result: fresh[k] is machine k, again[k] is parent[k].
class greedy_growth {
public:
    greedy_growth(int machines, ticks transfer_time, ticks compute_time, tree_limits limits)
        : m_count(static_cast<std::size_t>(machines))
        , m_transfers(limit(limits.transfers))
        , m_reducers(limit(limits.reducers))
        , m_overlap(std::min(transfer_time, compute_time)) {
        m_tree.parent.resize(m_count);
        m_tree.remaining.resize(m_count);
        m_tree.transfer_time = transfer_time;
        m_tree.compute_time = compute_time;
        if (limits.transfers != 0) m_combines.resize(m_count);
    }

    [[nodiscard]] auto run() && -> reduction_tree {
        for (std::size_t i = 1; i < m_count; ++i) attach(i);
        m_tree.finish = m_tree.remaining.back();
        return std::move(m_tree);
    }

private:
    static auto limit(int value) -> std::size_t {
        return value == 0 ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(value);
    }

    struct server {
        std::size_t machine;
        ticks available;
    };

    /// When, counted from the end, parent[k] can combine again after machine k was attached.
    [[nodiscard]] auto again(std::size_t k) const -> ticks {
        return m_combines.empty() ? m_tree.remaining[k] - m_overlap : m_combines[k];
    }

    // Of equal times the machine that has children goes first: rank order needs it, see tree/contiguous.hpp.
    auto next_server(std::size_t attached) -> server {
        bool const any_fresh = m_next_fresh < std::min(attached, m_reducers);
        if (m_next_again < attached) {
            ticks const available = again(m_next_again);
            if (!any_fresh || available <= m_tree.remaining[m_next_fresh])
                return {static_cast<std::size_t>(m_tree.parent[m_next_again++]), available};
        }
        auto const machine = m_next_fresh++;
        return {machine, m_tree.remaining[machine]};
    }

    void attach(std::size_t i) {
        auto const [machine, available] = next_server(i);
        ticks const combined = available + m_tree.compute_time;
        ticks const slot = i > m_transfers ? m_tree.remaining[i - m_transfers] : ticks{0};
        ticks const begin = std::max(combined, slot) + m_tree.transfer_time;
        m_tree.parent[i] = static_cast<int>(machine);
        m_tree.remaining[i] = begin;
        if (!m_combines.empty()) m_combines[i] = std::max(combined, begin - m_tree.compute_time);
    }

    std::size_t m_count;
    std::size_t m_transfers;
    std::size_t m_reducers;
    ticks m_overlap;
    reduction_tree m_tree;
    /// With a limit on transfers, where waiting makes again() more than a difference.
    std::vector<ticks> m_combines;
    std::size_t m_next_fresh = 0;
    std::size_t m_next_again = 1;
};

} // namespace detail

/// The shortest tree that reduces one value per machine, when a transfer takes `transfer_time`, a combination
/// `compute_time`, each machine sends and receives one message at a time, and both overlap with combining.
///
/// Paper 2: Algorithm 1; with limits.transfers Algorithm 2, with limits.reducers Algorithm 3, each optimal
/// (Theorems 4, 7, 9). Both limits together hold as well, but then nothing is known about the length. With
/// both costs zero every tree takes no time: the one for (1, 0) is returned.
///
/// O(machines) time and memory, where the paper searches a minimum for each machine. Throws
/// std::invalid_argument for fewer than one machine, negative costs or limits, and costs so large that times
/// would not fit into ticks.
[[nodiscard]] inline auto grow_greedy_tree(int machines, ticks transfer_time, ticks compute_time,
                                           tree_limits limits = {}) -> reduction_tree {
    detail::require(machines >= 1, "a tree must have at least 1 machine", machines);
    detail::require(limits.transfers >= 0, "max_transfers must not be negative", limits.transfers);
    detail::require(limits.reducers >= 0, "max_reducers must not be negative", limits.reducers);
    detail::check_tree_costs(machines, transfer_time, compute_time);
    bool const free = transfer_time + compute_time == ticks{0};
    ticks const transfer = free ? ticks{1} : transfer_time;
    auto tree = detail::greedy_growth(machines, transfer, compute_time, limits).run();
    if (free) return retimed(std::move(tree), transfer_time, compute_time);
    return tree;
}

} // namespace papcoll::inline v0
