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

/// A scatter of ranks that share the memory of their nodes: the root sends the lowest rank of each other node
/// what all have to get there, in one message, which comes to that memory, and each takes its part from
/// there. Long parts go in chunks, by several windows in turn. The root is done when its messages are under
/// way.
class node_scatter {
public:
    /// `parts`: what goes to each rank, and where it is at the root; `own`: where this rank gets it;
    /// `stretch`: elements of the memory of each rank.
    node_scatter(rank_grid const& grid, int rank, int root, std::vector<block_range> parts, region const& own,
                 std::size_t chunk, std::size_t stretch)
        : m_grid(grid)
        , m_rank(rank)
        , m_root(root)
        , m_parts(std::move(parts))
        , m_own(own)
        , m_chunk(std::min(chunk, stretch))
        , m_stretch(stretch) {}

    void write(program_builder& to) const {
        to.use({.receives = 2, .sends = most_messages, .admission = false});
        auto const node = m_grid.node(m_rank);
        if (node == m_grid.node(m_root)) return at_the_root(to, node);
        auto const leader = m_grid.members(node).front();
        auto const rounds = rounds_of(node);
        for (std::size_t k = 0; k < rounds; ++k)
            if (m_rank == leader)
                pass_on(to, node, k);
            else
                take(to, leader, k);
    }

private:
    static constexpr int most_messages = 8;

    static auto index(int i) -> std::size_t { return static_cast<std::size_t>(i); }
    [[nodiscard]] auto windows() const -> std::size_t { return m_stretch / m_chunk; }
    /// What of a rank's part is in a chunk, from the beginning of the part on.
    [[nodiscard]] auto chunk_of(int rank, std::size_t k) const -> block_range {
        auto const size = m_parts[index(rank)].size;
        auto const begin = std::min(k * m_chunk, size);
        return {begin, std::min(m_chunk, size - begin)};
    }
    [[nodiscard]] auto rounds_of_rank(int rank) const -> std::size_t {
        return (m_parts[index(rank)].size + m_chunk - 1) / m_chunk;
    }
    [[nodiscard]] auto rounds_of(int node) const -> std::size_t {
        std::size_t most = 0;
        for (int const rank : m_grid.members(node)) most = std::max(most, rounds_of_rank(rank));
        return most;
    }
    [[nodiscard]] auto window(int rank, std::size_t k) const -> region {
        auto const begin = index(m_grid.index(rank)) * m_stretch + k % windows() * m_chunk;
        return {memory::node, begin, chunk_of(rank, k).size};
    }

    /// The leader's own part comes to where it belongs; a window is written again when it has been read.
    void pass_on(program_builder& to, int node, std::size_t k) const {
        std::vector<region> into, for_others;
        for (int const rank : m_grid.members(node)) {
            auto const chunk = chunk_of(rank, k);
            if (chunk.size == 0) continue;
            if (rank == m_rank) {
                into.push_back(m_own.part(chunk.offset, chunk.size));
                continue;
            }
            if (k >= windows())
                to.await(rank, static_cast<program::index>(k - windows() + 1), window(rank, k));
            into.push_back(window(rank, k));
            for_others.push_back(window(rank, k));
        }
        to.receive(m_root, into);
        if (m_grid.members(node).size() > 1) to.post(for_others);
    }
    void take(program_builder& to, int leader, std::size_t k) const {
        auto const chunk = chunk_of(m_rank, k);
        if (chunk.size == 0) return;
        to.await(leader, static_cast<program::index>(k + 1), window(m_rank, k));
        to.copy(m_own.part(chunk.offset, chunk.size), window(m_rank, k));
        if (k + windows() < rounds_of_rank(m_rank)) to.post(window(m_rank, k));
    }
    void at_the_root(program_builder& to, int node) const {
        if (m_rank == m_root) send_all(to);
        if (m_grid.members(node).size() == 1) return to.copy(m_own, source(m_rank));
        node_exchange exchange(to, m_grid.members(node), m_grid.index(m_rank), m_stretch);
        std::vector<region> here;
        for (int const rank : m_grid.members(node)) here.push_back(source(rank));
        exchange.scatter(m_grid.index(m_root), here, m_own, m_chunk);
    }
    void send_all(program_builder& to) const {
        std::size_t rounds = 0;
        for (int node = 0; node < m_grid.nodes(); ++node) rounds = std::max(rounds, rounds_of(node));
        std::vector<region> from;
        for (std::size_t k = 0; k < rounds; ++k)
            for (int node = 0; node < m_grid.nodes(); ++node) {
                if (node == m_grid.node(m_root) || k >= rounds_of(node)) continue;
                from.clear();
                for (int const rank : m_grid.members(node)) {
                    auto const chunk = chunk_of(rank, k);
                    if (chunk.size > 0) from.push_back(source(rank).part(chunk.offset, chunk.size));
                }
                to.send(m_grid.members(node).front(), from);
            }
    }
    [[nodiscard]] auto source(int rank) const -> region {
        return {memory::in, m_parts[index(rank)].offset, m_parts[index(rank)].size};
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
