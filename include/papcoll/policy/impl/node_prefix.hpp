// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/link_model.hpp>
#include <papcoll/policy/call_shape.hpp>
#include <papcoll/policy/circulant_choice.hpp>
#include <papcoll/program/prefix.hpp>
#include <papcoll/program/program_builder.hpp>
#include <papcoll/scheduler/rank_grid.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace papcoll::inline v0::detail {

/// A scan or an exscan of short data of ranks that share the memory of their nodes, where the ranks of each
/// node follow each other. Each rank combines what those below it on its node have. The last one of a node
/// has what all of them have together, and with it takes part in an exscan between the nodes, from node to
/// node or by recursive doubling; what all nodes below have together it gives to the others. Operands are
/// combined in the order of the ranks.
class node_prefix {
public:
    /// The elements have room in a stretch.
    node_prefix(program_builder& to, rank_grid const& grid, call_shape const& shape, link_model const& link,
                std::size_t stretch)
        : m_to(to)
        , m_order(order_of(grid))
        , m_position(position_of(grid.node(shape.rank)))
        , m_members(grid.members(grid.node(shape.rank)))
        , m_me(grid.index(shape.rank))
        , m_size(shape.count)
        , m_stretch(stretch)
        , m_chain(between_nodes(shape, grid.nodes(), link).goes_from_node_to_node) {
        for (int const node : m_order) m_lasts.push_back(grid.members(node).back());
    }

    /// Whether the ranks of each node follow each other.
    [[nodiscard]] static auto serves(rank_grid const& grid) -> bool {
        for (int node = 0; node < grid.nodes(); ++node) {
            auto const ranks = grid.members(node);
            if (ranks.back() - ranks.front() + 1 != static_cast<int>(ranks.size())) return false;
        }
        return true;
    }

    /// What passes between the nodes.
    struct exchange {
        bool goes_from_node_to_node; ///< or by doubling
        double time;                 ///< of all rounds, in nanoseconds
    };
    /// From node to node each sends one message and receives one, by doubling one in every round. So calls in
    /// a row are faster from node to node where the data is not so short that messages leave together, even
    /// if there are half as many rounds again.
    [[nodiscard]] static auto between_nodes(call_shape const& shape, int nodes, link_model const& link)
        -> exchange {
        double const latency = round_latency(link);
        // The link was measured with all ranks of a node at once.
        double const volume = volume_time(shape.bytes(), link) * nodes / shape.ranks;
        int const doubling = prefix_rounds::of_exclusive(nodes);
        int const most = volume >= latency / 8 ? doubling + doubling / 2 : doubling;
        bool const chain = nodes - 1 <= most;
        return {chain, (chain ? nodes - 1 : doubling) * (latency + volume)};
    }

    void write(prefix_kind kind) {
        if (m_size == 0) return;
        bool const includes = kind == prefix_kind::inclusive;
        bool const leads = m_me + 1 == static_cast<int>(m_members.size());
        bool const passes_on = leads && m_position + 1 < static_cast<int>(m_order.size());
        if (!leads) give();
        auto const here = before_me();
        auto const with_own = includes || passes_on ? and_mine(here) : region();
        auto const below = leads ? between(with_own) : taken_from_leader();
        put(below, includes ? with_own : here);
    }

private:
    static auto index(int i) -> std::size_t { return static_cast<std::size_t>(i); }
    /// The nodes in the order of their ranks.
    static auto order_of(rank_grid const& grid) -> std::vector<int> {
        std::vector<int> order(index(grid.nodes()));
        for (int node = 0; node < grid.nodes(); ++node) order[index(node)] = node;
        std::sort(order.begin(), order.end(),
                  [&](int a, int b) { return grid.members(a).front() < grid.members(b).front(); });
        return order;
    }
    [[nodiscard]] auto position_of(int node) const -> int {
        return static_cast<int>(std::find(m_order.begin(), m_order.end(), node) - m_order.begin());
    }
    [[nodiscard]] auto mine() const -> region { return {memory::in, 0, m_size}; }
    [[nodiscard]] auto place(int member) const -> region {
        return {memory::node, index(member) * m_stretch, m_size};
    }

    void give() {
        m_to.copy(place(m_me), mine());
        m_to.post(place(m_me));
    }
    /// What those below this rank on its node have together; empty: there are none.
    [[nodiscard]] auto before_me() -> region {
        if (m_me == 0) return {};
        auto held = place(0);
        m_to.await(m_members[0], 1, held);
        if (m_me == 1) return held;
        auto const all = m_to.scratch(m_size);
        for (int r = 1; r < m_me; ++r) {
            m_to.await(m_members[index(r)], 1, place(r));
            m_to.combine(all, held, place(r));
            held = all;
        }
        return all;
    }
    [[nodiscard]] auto and_mine(region const& below) -> region {
        if (below.size() == 0) return mine();
        auto const both = m_to.scratch(m_size);
        m_to.combine(both, below, mine());
        return both;
    }
    /// What the nodes below this one have together, which goes to the other ranks of the node, too; empty:
    /// there are none.
    [[nodiscard]] auto between(region const& all_here) -> region {
        program_builder rounds;
        rounds.use({.receives = 2, .sends = 2, .admission = false});
        auto const nodes = static_cast<int>(m_order.size());
        if (m_chain)
            write_prefix_chain(rounds, prefix_kind::exclusive, nodes, m_position, m_size, 1);
        else
            write_prefix_doubling(rounds, prefix_kind::exclusive, nodes, m_position, m_size);
        auto const below = m_position > 0 ? m_to.scratch(m_size) : region();
        m_to.append(rounds.finish(), {all_here, below, m_lasts});
        if (m_position > 0 && m_members.size() > 1) {
            m_to.copy(place(m_me), below);
            m_to.post(place(m_me));
        }
        return below;
    }
    [[nodiscard]] auto taken_from_leader() -> region {
        if (m_position == 0) return {};
        auto const last = static_cast<int>(m_members.size()) - 1;
        m_to.await(m_members[index(last)], 1, place(last));
        return place(last);
    }
    void put(region const& below, region const& here) {
        region const result(memory::out, 0, m_size);
        if (below.size() > 0 && here.size() > 0)
            m_to.combine(result, below, here);
        else if (below.size() > 0)
            m_to.copy(result, below);
        else if (here.size() > 0)
            m_to.copy(result, here);
    }

    program_builder& m_to;
    std::vector<int> m_order;
    int m_position; // of this node in that order
    std::vector<int> m_lasts;
    std::span<int const> m_members;
    int m_me;
    std::size_t m_size;
    std::size_t m_stretch;
    bool m_chain;
};

} // namespace papcoll::inline v0::detail
