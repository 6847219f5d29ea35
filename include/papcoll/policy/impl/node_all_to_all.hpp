// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/program/program_builder.hpp>
#include <papcoll/scheduler/rank_grid.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace papcoll::inline v0::detail {

/// An all-to-all of ranks that share the memory of their nodes: what the ranks of one node have for those of
/// another is one message. Each rank copies all that it gives to its stretch of the memory; the messages of a
/// node are shared out among its ranks, and what they receive lies in their stretches, too, from where each
/// rank of the node takes its blocks.
///
/// Long blocks go in rounds, by two windows in turn. For each round a rank makes two posts: what it gives is
/// there, and what it has received. It gives for the next round while messages of this one are under way, so
/// that the links need not wait.
class node_all_to_all {
public:
    /// Blocks of n elements, of which `chunk` go in a round; `stretch`: elements of the memory of each rank.
    node_all_to_all(rank_grid const& grid, int rank, std::size_t n, std::size_t chunk, std::size_t stretch)
        : m_grid(grid)
        , m_node(grid.node(rank))
        , m_me(grid.index(rank))
        , m_size(n)
        , m_chunk(chunk)
        , m_stretch(stretch)
        , m_first(1) {
        for (int node = 0; node + 1 < grid.nodes(); ++node) m_first.push_back(m_first.back() + size(node));
    }

    /// Elements of a window where a block has one: what a rank gives, and what comes for its node.
    [[nodiscard]] static auto window_of_one(rank_grid const& grid) -> std::size_t {
        auto const others = static_cast<std::size_t>(grid.nodes() - 1);
        std::size_t most = 0;
        std::size_t messages = 0;
        for (int node = 0; node < grid.nodes(); ++node) {
            auto const ranks = grid.members(node).size();
            most = std::max(most, ranks);
            messages = std::max(messages, (others + ranks - 1) / ranks * ranks);
        }
        return static_cast<std::size_t>(grid.ranks()) + messages * most;
    }

    void write(program_builder& to) const {
        if (m_size == 0) return;
        to.use({.receives = most_messages, .sends = most_messages, .admission = false});
        auto const me = m_grid.members(m_node)[index(m_me)];
        to.copy(block(memory::out, me), block(memory::in, me));
        if (size(m_node) == 1) return write_alone(to);
        give(to, 0);
        for (std::size_t k = 0; k < rounds(); ++k) {
            take_from_node(to, k);
            exchange(to, k);
            if (k + 1 < rounds()) give(to, k + 1);
            post(to, k);
            take(to, k);
        }
    }

private:
    static constexpr int most_messages = 4;

    static auto index(int i) -> std::size_t { return static_cast<std::size_t>(i); }
    [[nodiscard]] auto size(int node) const -> std::size_t { return m_grid.members(node).size(); }
    [[nodiscard]] auto rounds() const -> std::size_t { return (m_size + m_chunk - 1) / m_chunk; }
    [[nodiscard]] auto size_of(std::size_t round) const -> std::size_t {
        return std::min(m_chunk, m_size - round * m_chunk);
    }
    [[nodiscard]] auto block(memory where, int rank) const -> region {
        return {where, index(rank) * m_size, m_size};
    }
    [[nodiscard]] auto piece(region const& of, std::size_t round) const -> region {
        return of.part(round * m_chunk, size_of(round));
    }

    /// The nodes at a distance: where messages go, and come from.
    [[nodiscard]] auto above(int distance) const -> int { return (m_node + distance) % m_grid.nodes(); }
    [[nodiscard]] auto below(int distance) const -> int {
        return (m_node - distance + m_grid.nodes()) % m_grid.nodes();
    }
    /// Which rank of a node sends, and receives, the messages of a distance.
    [[nodiscard]] auto carrier(int node, int distance) const -> int {
        return (distance - 1) % static_cast<int>(size(node));
    }
    [[nodiscard]] auto carrier_rank(int node, int distance) const -> int {
        return m_grid.members(node)[index(carrier(node, distance))];
    }

    /// So many blocks of a round, from one on, in the stretch of a rank of the node. Those that it gives, by
    /// node, are the first; then come those that it has received.
    [[nodiscard]] auto place(int member, std::size_t round, std::size_t first, std::size_t blocks) const
        -> region {
        auto const each = size_of(round);
        return window(member, round).part(first * each, blocks * each);
    }
    [[nodiscard]] auto window(int member, std::size_t round) const -> region {
        auto const each = rounds() > 1 ? m_stretch / 2 : m_stretch;
        return {memory::node, index(member) * m_stretch + round % 2 * each, each};
    }
    /// All that this rank has done so far to the window of this round is done.
    void post(program_builder& to, std::size_t k) const {
        std::vector<region> about;
        about.reserve(size(m_node));
        for (int member = 0; member < static_cast<int>(size(m_node)); ++member)
            about.push_back(window(member, k));
        to.post(about);
    }
    /// Which posts, counted from 1, say that a rank has given and received what belongs to a round.
    [[nodiscard]] static auto given(std::size_t k) -> std::size_t { return std::max<std::size_t>(2 * k, 1); }
    [[nodiscard]] auto received(std::size_t k) const -> std::size_t {
        return std::min(2 * k + 3, 2 * rounds());
    }
    /// All others have come to it: their windows of this round may be read, and this rank's be written.
    void await_all(program_builder& to, std::size_t post, std::size_t k) const {
        for (int member = 0; member < static_cast<int>(size(m_node)); ++member) {
            std::array const both{window(member, k), window(m_me, k)};
            if (member != m_me)
                to.await(m_grid.members(m_node)[index(member)], static_cast<program::index>(post), both);
        }
    }

    void give(program_builder& to, std::size_t k) const {
        std::vector<region> pairs;
        for (int node = 0; node < m_grid.nodes(); ++node)
            for (std::size_t i = 0; i < size(node); ++i) {
                auto const rank = m_grid.members(node)[i];
                if (node == m_node && i == index(m_me)) continue;
                pairs.push_back(place(m_me, k, m_first[index(node)] + i, 1));
                pairs.push_back(piece(block(memory::in, rank), k));
            }
        to.copy(pairs);
        post(to, k);
    }
    void take_from_node(program_builder& to, std::size_t k) const {
        await_all(to, given(k), k);
        std::vector<region> pairs;
        for (int member = 0; member < static_cast<int>(size(m_node)); ++member) {
            if (member == m_me) continue;
            auto const rank = m_grid.members(m_node)[index(member)];
            pairs.push_back(piece(block(memory::out, rank), k));
            pairs.push_back(place(member, k, m_first[index(m_node)] + index(m_me), 1));
        }
        to.copy(pairs);
    }
    void exchange(program_builder& to, std::size_t k) const {
        auto const here = static_cast<int>(size(m_node));
        auto next = index(m_grid.ranks());
        for (int distance = 1 + m_me; distance < m_grid.nodes(); distance += here) {
            std::vector<region> from;
            from.reserve(size(m_node));
            for (int member = 0; member < here; ++member)
                from.push_back(place(member, k, m_first[index(above(distance))], size(above(distance))));
            to.send(carrier_rank(above(distance), distance), from);
            auto const blocks = size(below(distance)) * size(m_node);
            to.receive(carrier_rank(below(distance), distance), place(m_me, k, next, blocks));
            next += blocks;
        }
    }
    /// What came for this rank.
    void take(program_builder& to, std::size_t k) const {
        await_all(to, received(k), k);
        std::vector<std::size_t> next(size(m_node), index(m_grid.ranks()));
        for (int distance = 1; distance < m_grid.nodes(); ++distance) {
            auto const member = carrier(m_node, distance);
            auto const sources = m_grid.members(below(distance));
            std::vector<region> pairs;
            for (std::size_t source = 0; source < sources.size(); ++source) {
                auto const first = next[index(member)] + source * size(m_node) + index(m_me);
                pairs.push_back(piece(block(memory::out, sources[source]), k));
                pairs.push_back(place(member, k, first, 1));
            }
            to.copy(pairs);
            next[index(member)] += sources.size() * size(m_node);
        }
    }

    /// A rank that is alone on its node sends from its own memory and receives there.
    void write_alone(program_builder& to) const {
        auto const count = index(m_grid.ranks()) * m_size;
        region from(memory::in, 0, count);
        if (to.in_place()) {
            from = to.scratch(count);
            to.copy(from, region(memory::in, 0, count));
        }
        std::vector<region> leaving, arriving;
        for (std::size_t k = 0; k < rounds(); ++k)
            for (int distance = 1; distance < m_grid.nodes(); ++distance) {
                leaving.clear();
                arriving.clear();
                for (int const rank : m_grid.members(above(distance)))
                    leaving.push_back(piece(from.part(index(rank) * m_size, m_size), k));
                for (int const rank : m_grid.members(below(distance)))
                    arriving.push_back(piece(block(memory::out, rank), k));
                to.send(carrier_rank(above(distance), distance), leaving);
                to.receive(carrier_rank(below(distance), distance), arriving);
            }
    }

    rank_grid const& m_grid;
    int m_node;
    int m_me; // of the ranks of the node
    std::size_t m_size;
    std::size_t m_chunk;
    std::size_t m_stretch;
    std::vector<std::size_t> m_first; // the first rank of each node among all, by node
};

} // namespace papcoll::inline v0::detail
