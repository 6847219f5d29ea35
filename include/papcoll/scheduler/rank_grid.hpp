// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

namespace papcoll::inline v0 {

/// Which ranks share a node. Nodes are in the order of their numbers, the ranks of a node in ascending order.
class rank_grid {
public:
    /// The node of each rank; any numbers will do. O(P log P).
    explicit rank_grid(std::span<int const> node_of_rank)
        : m_ranks(node_of_rank.size())
        , m_node(node_of_rank.size())
        , m_index(node_of_rank.size()) {
        std::iota(m_ranks.begin(), m_ranks.end(), 0);
        auto const node = [&](int rank) { return node_of_rank[static_cast<std::size_t>(rank)]; };
        std::stable_sort(m_ranks.begin(), m_ranks.end(), [&](int a, int b) { return node(a) < node(b); });
        for (std::size_t i = 0; i < m_ranks.size(); ++i) {
            if (i == 0 || node(m_ranks[i]) != node(m_ranks[i - 1])) m_first.push_back(i);
            auto const rank = static_cast<std::size_t>(m_ranks[i]);
            m_node[rank] = static_cast<int>(m_first.size()) - 1;
            m_index[rank] = static_cast<int>(i - m_first.back());
        }
        m_first.push_back(m_ranks.size());
    }

    /// How many ranks there are.
    [[nodiscard]] auto ranks() const -> int { return static_cast<int>(m_ranks.size()); }
    /// How many nodes there are.
    [[nodiscard]] auto nodes() const -> int { return static_cast<int>(m_first.size()) - 1; }
    /// Of the first node, and of all where even() is true.
    [[nodiscard]] auto per_node() const -> int { return static_cast<int>(members(0).size()); }
    /// Whether every node has as many ranks.
    [[nodiscard]] auto even() const -> bool {
        for (int node = 1; node < nodes(); ++node)
            if (members(node).size() != members(0).size()) return false;
        return true;
    }
    /// The node of a rank.
    [[nodiscard]] auto node(int rank) const -> int { return m_node[static_cast<std::size_t>(rank)]; }
    /// Which of the ranks of its node a rank is.
    [[nodiscard]] auto index(int rank) const -> int { return m_index[static_cast<std::size_t>(rank)]; }
    /// The ranks of a node.
    [[nodiscard]] auto members(int node) const -> std::span<int const> {
        auto const n = static_cast<std::size_t>(node);
        return std::span(m_ranks).subspan(m_first[n], m_first[n + 1] - m_first[n]);
    }

private:
    std::vector<int> m_ranks; // by node
    std::vector<std::size_t> m_first;
    std::vector<int> m_node, m_index;
};

} // namespace papcoll::inline v0
