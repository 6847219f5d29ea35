// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/scheduler/bitset/bit_matrix.hpp>
#include <papcoll/scheduler/bitset/rows.hpp>
#include <papcoll/scheduler/bitset/simd_bitset.hpp>
#include <papcoll/scheduler/bitset/state_bitset.hpp>
#include <papcoll/scheduler/search/search.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <span>
#include <vector>

namespace papcoll::inline v0 {

/// The search of paper 1, section 5.4: a tree of ORs over the columns (one bit per block) of the processes
/// that may still send. Position p has two leaves, p and p + ranks; it uses the second when it lies before
/// the head, so that leaves stand in the order of availability in every round.
///
/// Node i has children 2i and 2i + 1; the leaves start at m, the power of two not below 2 · ranks. One search
/// costs O(blocks / w · log ranks) for w-bit lanes, a round O(blocks / w · processes of the round) in
/// addition. At most 5 bits per (process, block) cell where ranks is a power of two and blocks a multiple of
/// w.
template <state_bitset Bits = simd_bitset<>>
class segment_tree {
public:
    segment_tree(int ranks, int blocks)
        : m_ranks(static_cast<std::size_t>(ranks))
        , m_first_leaf(std::bit_ceil(2 * m_ranks))
        , m_nodes(2 * m_first_leaf, static_cast<std::size_t>(blocks))
        , m_columns(m_ranks, static_cast<std::size_t>(blocks))
        , m_held(m_ranks, blocks)
        , m_sent(m_ranks, 1) {
        for (std::size_t i = 0; i < m_ranks; ++i) m_columns.fill(i);
    }

    void join(int /*position*/) {}

    void begin_round(std::span<int const> active) {
        for (auto const& at : m_received) m_columns.set(at.position, at.block);
        m_received.clear();
        m_head = static_cast<std::size_t>(active.front());
        m_old_leaves.swap(m_leaves);
        m_leaves.clear();
        for (int const p : active) {
            m_sent[static_cast<std::size_t>(p)] = 0;
            m_leaves.push_back(leaf(static_cast<std::size_t>(p)));
        }
        rebuild();
    }

    [[nodiscard]] auto receive(int receiver, bool sink) -> search_match {
        auto const p = static_cast<std::size_t>(receiver);
        auto const block = first_block(p, sink);
        if (block == rows::none) return {};
        auto peer_leaf = find_leftmost(1, block);
        if (peer_leaf == leaf(p)) peer_leaf = find_leftmost_behind(peer_leaf, block);
        auto const peer = (peer_leaf - m_first_leaf) % m_ranks;
        move(peer, p, block);
        return {static_cast<int>(peer), static_cast<int>(block)};
    }

    [[nodiscard]] auto empty(int position) const -> bool {
        return m_held[static_cast<std::size_t>(position)] == 0;
    }

    /// Size of the cells in bytes: the tree and the saved columns.
    [[nodiscard]] auto memory_bytes() const -> std::size_t {
        return m_nodes.memory_bytes() + m_columns.memory_bytes();
    }

private:
    struct cell {
        std::size_t position;
        std::size_t block;
    };

    [[nodiscard]] auto leaf(std::size_t position) const -> std::size_t {
        return m_first_leaf + position + (position < m_head ? m_ranks : 0);
    }

    /// The lowest block that `p` can get: held by somebody else who may send and, unless p is the sink, by p.
    /// A receiver that has sent is not in the tree: the root node is then the OR of all others.
    [[nodiscard]] auto first_block(std::size_t p, bool sink) const -> std::size_t {
        auto const* const own = m_columns.row(p);
        auto const start = m_sent[p] != 0 ? 1 : leaf(p);
        return rows::first_set<Bits>(m_nodes.lanes(), [&](std::size_t i) {
            auto const others = all_except_one(start, i * Bits::lane_words);
            return sink ? others : others & Bits::load(own + i * Bits::lane_words);
        });
    }

    /// The OR of all leaves not below `node`, in the lane at a word offset.
    [[nodiscard]] auto all_except_one(std::size_t node, std::size_t offset) const -> typename Bits::lane {
        auto lane = node == 1 ? Bits::load(m_nodes.row(1) + offset) : Bits::zero();
        for (; node > 1; node /= 2) lane = lane | Bits::load(m_nodes.row(node ^ 1) + offset);
        return lane;
    }

    /// The first leaf below `node` that has the block.
    [[nodiscard]] auto find_leftmost(std::size_t node, std::size_t block) const -> std::size_t {
        while (node < m_first_leaf) node = 2 * node + (m_nodes.test(2 * node, block) ? 0 : 1);
        return node;
    }

    /// The first leaf behind `node` that has the block; there must be one.
    [[nodiscard]] auto find_leftmost_behind(std::size_t node, std::size_t block) const -> std::size_t {
        while (node % 2 == 1 || !m_nodes.test(node + 1, block)) node /= 2;
        return find_leftmost(node + 1, block);
    }

    void move(std::size_t peer, std::size_t receiver, std::size_t block) {
        m_sent[peer] = 1;
        m_columns.clear(peer, block);
        --m_held[peer];
        m_nodes.reset(leaf(peer));
        update_above(leaf(peer));
        if (m_columns.test(receiver, block)) {
            m_columns.clear(receiver, block);
        } else {
            ++m_held[receiver];
        }
        m_received.push_back({receiver, block});
        if (m_sent[receiver] == 0) clear_above(leaf(receiver), block);
    }

    void unite_children(std::size_t node) {
        rows::unite<Bits>(m_nodes.row(node), m_nodes.row(2 * node), m_nodes.row(2 * node + 1),
                          m_nodes.lanes());
    }

    void update_above(std::size_t node) {
        for (node /= 2; node > 0; node /= 2) unite_children(node);
    }

    /// Clears one bit of a leaf, and upwards as long as no other child has it.
    void clear_above(std::size_t node, std::size_t block) {
        m_nodes.clear(node, block);
        for (; node > 1 && !m_nodes.test(node ^ 1, block); node /= 2) m_nodes.clear(node / 2, block);
    }

    /// Brings the leaves of this and of the last round up to date, then level by level the nodes above them;
    /// all other leaves are zero.
    void rebuild() {
        for (auto const node : m_old_leaves) m_nodes.reset(node);
        for (auto const node : m_leaves)
            rows::copy<Bits>(m_nodes.row(node), m_columns.row((node - m_first_leaf) % m_ranks),
                             m_nodes.lanes());
        m_stale.clear();
        std::set_union(m_leaves.begin(), m_leaves.end(), m_old_leaves.begin(), m_old_leaves.end(),
                       std::back_inserter(m_stale));
        while (m_stale.front() > 1) {
            for (auto& node : m_stale) node /= 2;
            m_stale.erase(std::unique(m_stale.begin(), m_stale.end()), m_stale.end());
            for (auto const node : m_stale) unite_children(node);
        }
    }

    std::size_t m_ranks;
    std::size_t m_first_leaf;
    bit_matrix<Bits> m_nodes;
    bit_matrix<Bits> m_columns; ///< the true column of each process, whether it may send or not
    std::vector<int> m_held;    ///< per process, the number of blocks it holds
    std::vector<unsigned char> m_sent;
    std::size_t m_head = 0;
    std::vector<std::size_t> m_leaves; ///< of this round's processes, ascending
    std::vector<std::size_t> m_old_leaves;
    std::vector<std::size_t> m_stale;
    std::vector<cell> m_received; ///< in this round: held again from the next on
};

} // namespace papcoll::inline v0
