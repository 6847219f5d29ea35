// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/program/node_exchange.hpp>
#include <papcoll/program/program_builder.hpp>
#include <papcoll/schedule/block_partition.hpp>
#include <papcoll/scheduler/rank_grid.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// A gather of ranks that share the memory of their nodes: on each node but the root's the lowest rank sends
/// what all have there, from that memory, to the root. Long parts go in chunks, by several windows in turn.
/// The other ranks are done when they have posted their last chunk.
class node_gather {
public:
    /// `parts`: what comes from each rank, and where it goes at the root; `own`: where this rank has it;
    /// `stretch`: elements of the memory of each rank.
    node_gather(rank_grid const& grid, int rank, int root, std::vector<block_range> parts, region const& own,
                std::size_t chunk, std::size_t stretch)
        : m_grid(grid)
        , m_rank(rank)
        , m_root(root)
        , m_parts(std::move(parts))
        , m_own(own)
        , m_chunk(std::min(chunk, stretch))
        , m_stretch(stretch) {}

    void write(program_builder& to) const {
        to.use({.receives = most_messages, .sends = 2, .admission = false});
        auto const node = m_grid.node(m_rank);
        if (node == m_grid.node(m_root)) return at_the_root(to, node);
        auto const members = m_grid.members(node);
        auto const leader = members.front();
        auto const rounds = rounds_of(node);
        for (std::size_t k = 0; k < rounds; ++k)
            if (m_rank == leader)
                pass_on(to, node, k, rounds);
            else
                give(to, leader, k);
    }

private:
    static constexpr int most_messages = 64; // as many as `linear` awaits

    static auto index(int i) -> std::size_t { return static_cast<std::size_t>(i); }
    [[nodiscard]] auto windows() const -> std::size_t { return m_stretch / m_chunk; }
    /// What of a rank's part is in a chunk, from the beginning of the part on.
    [[nodiscard]] auto chunk_of(int rank, std::size_t k) const -> block_range {
        auto const size = m_parts[index(rank)].size;
        auto const begin = std::min(k * m_chunk, size);
        return {begin, std::min(m_chunk, size - begin)};
    }
    [[nodiscard]] auto rounds_of(int node) const -> std::size_t {
        std::size_t longest = 0;
        for (int const rank : m_grid.members(node)) longest = std::max(longest, m_parts[index(rank)].size);
        return (longest + m_chunk - 1) / m_chunk;
    }
    [[nodiscard]] auto window(int rank, std::size_t k) const -> region {
        auto const begin = index(m_grid.index(rank)) * m_stretch + k % windows() * m_chunk;
        return {memory::node, begin, chunk_of(rank, k).size};
    }

    void give(program_builder& to, int leader, std::size_t k) const {
        auto const chunk = chunk_of(m_rank, k);
        if (chunk.size == 0) return;
        if (k >= windows())
            to.await(leader, static_cast<program::index>(k - windows() + 1), window(m_rank, k));
        to.copy(window(m_rank, k), m_own.part(chunk.offset, chunk.size));
        to.post(window(m_rank, k));
    }
    void pass_on(program_builder& to, int node, std::size_t k, std::size_t rounds) const {
        std::vector<region> from;
        for (int const rank : m_grid.members(node)) {
            auto const chunk = chunk_of(rank, k);
            if (chunk.size == 0) continue;
            if (rank == m_rank) {
                from.push_back(m_own.part(chunk.offset, chunk.size));
            } else {
                to.await(rank, static_cast<program::index>(k + 1), window(rank, k));
                from.push_back(window(rank, k));
            }
        }
        to.send(m_root, from);
        auto const members = m_grid.members(node).size();
        if (members > 1 && k + windows() < rounds) to.post(region(memory::node, 0, members * m_stretch));
    }
    void at_the_root(program_builder& to, int node) const {
        if (m_grid.members(node).size() > 1) {
            node_exchange exchange(to, m_grid.members(node), m_grid.index(m_rank), m_stretch);
            std::vector<region> here;
            for (int const rank : m_grid.members(node)) here.push_back(target(rank));
            exchange.gather(m_grid.index(m_root), here, m_own, m_chunk);
        } else {
            to.copy(target(m_rank), m_own);
        }
        if (m_rank == m_root) receive_all(to);
    }
    void receive_all(program_builder& to) const {
        std::size_t rounds = 0;
        for (int node = 0; node < m_grid.nodes(); ++node) rounds = std::max(rounds, rounds_of(node));
        std::vector<region> into;
        for (std::size_t k = 0; k < rounds; ++k)
            for (int node = 0; node < m_grid.nodes(); ++node) {
                if (node == m_grid.node(m_root) || k >= rounds_of(node)) continue;
                into.clear();
                for (int const rank : m_grid.members(node)) {
                    auto const chunk = chunk_of(rank, k);
                    if (chunk.size > 0) into.push_back(target(rank).part(chunk.offset, chunk.size));
                }
                to.receive(m_grid.members(node).front(), into);
            }
    }
    [[nodiscard]] auto target(int rank) const -> region {
        return {memory::out, m_parts[index(rank)].offset, m_parts[index(rank)].size};
    }

    rank_grid const& m_grid;
    int m_rank;
    int m_root;
    std::vector<block_range> m_parts;
    region m_own;
    std::size_t m_chunk;
    std::size_t m_stretch;
};

} // namespace papcoll::inline v0::detail
