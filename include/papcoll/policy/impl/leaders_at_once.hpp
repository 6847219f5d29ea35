// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/link_model.hpp>
#include <papcoll/policy/circulant_choice.hpp>
#include <papcoll/policy/collective_kind.hpp>
#include <papcoll/program/program_builder.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <vector>

namespace papcoll::inline v0::detail {

/// Collectives of short data between one rank of each node, the leader, in which every leader sends to all
/// others that need its data at once: one latency, whoever is late, where a circulant graph has one for each
/// round. Operands are combined in the order of the nodes, everywhere alike.
class leaders_at_once {
public:
    /// `leaders`: by node; `node`: that of this one.
    leaders_at_once(program_builder& to, std::span<int const> leaders, int node)
        : m_to(to)
        , m_leaders(leaders)
        , m_nodes(static_cast<int>(leaders.size()))
        , m_node(node) {
        to.use({.receives = std::clamp(m_nodes - 1, 1, 64), .sends = 8, .admission = false});
    }

    /// Whether it takes less time than the rounds of a circulant graph. Of messages under way together the
    /// latency passes together; each but the first costs what a message does, twice where all have as many to
    /// send as to receive. Where data is longer, its time decides.
    [[nodiscard]] static auto is_shorter(collective_kind operation, int nodes, std::size_t bytes,
                                         link_model const& link) -> bool {
        bool const in_parts =
            operation == collective_kind::all_gather || operation == collective_kind::reduce_scatter;
        bool const rooted = operation == collective_kind::broadcast || operation == collective_kind::reduce;
        double const others = nodes - 1;
        double const message = message_cost(link);
        double const latency = round_latency(link) + message;
        double const q = std::bit_width(static_cast<unsigned>(nodes - 1));
        auto const data = static_cast<double>(bytes);
        double const sent = link.per_byte * (in_parts ? others / nodes * data : others * data);
        double const in_turn = in_parts ? sent : q * link.per_byte * data;
        double const at_once = latency + (others - 1) * message * (rooted ? 1 : 2) + sent;
        constexpr double most_bytes = 1 << 20; // which a leader keeps, or is about to get
        return at_once < q * latency + in_turn && sent <= 2 * latency && others * data <= most_bytes;
    }

    void broadcast(int root, region const& data) {
        if (m_node == root)
            for_receivers([&](int node) { send(node, data); });
        else
            receive(root, data);
    }
    /// Of `in` into `out`, which may be the same memory; only the root has it.
    void reduce(int root, region const& in, region const& out) {
        if (m_node != root) return send(root, in);
        combine_all(in, out, false);
    }
    void all_reduce(region const& in, region const& out) {
        auto const own = kept(in, out);
        for_receivers([&](int node) { send(node, own); });
        combine_all(own, out, true);
    }
    /// The nodes' parts follow each other in `whole`.
    void all_gather(region const& whole, std::span<std::size_t const> sizes) {
        auto const parts = parts_of(whole, sizes);
        for_receivers([&](int node) { send(node, parts[index(m_node)]); });
        for_senders([&](int node) { receive(node, parts[index(node)]); });
    }
    /// Likewise; the part of this node comes to `out`, other memory.
    void reduce_scatter(region const& whole, region const& out, std::span<std::size_t const> sizes) {
        auto const parts = parts_of(whole, sizes);
        for_receivers([&](int node) { send(node, parts[index(node)]); });
        combine_all(parts[index(m_node)], out, false);
    }

private:
    static auto index(int i) -> std::size_t { return static_cast<std::size_t>(i); }
    static auto parts_of(region const& whole, std::span<std::size_t const> sizes) -> std::vector<region> {
        std::vector<region> parts;
        std::size_t next = 0;
        for (auto const size : sizes) {
            parts.push_back(whole.part(next, size));
            next += size;
        }
        return parts;
    }
    /// The next nodes first, so that not all send to the same one; what comes in the same order as it leaves.
    template <class F>
    void for_receivers(F f) const {
        for (int i = 1; i < m_nodes; ++i) f((m_node + i) % m_nodes);
    }
    template <class F>
    void for_senders(F f) const {
        for (int i = 1; i < m_nodes; ++i) f((m_node + m_nodes - i) % m_nodes);
    }
    void send(int node, region const& from) {
        if (from.size() > 0) m_to.send(m_leaders[index(node)], from);
    }
    void receive(int node, region const& into) {
        if (into.size() > 0) m_to.receive(m_leaders[index(node)], into);
    }
    /// An operand where the result does not go.
    auto kept(region const& own, region const& out) -> region {
        if (!m_to.same_memory(own, out)) return own;
        auto const copy = m_to.scratch(own.size());
        m_to.copy(copy, own);
        return copy;
    }
    /// out ← what the nodes have, of which the others send theirs.
    void combine_all(region const& mine, region const& out, bool alike) {
        auto const own = kept(mine, out);
        std::vector<region> operands(m_leaders.size(), own);
        for_senders([&](int node) {
            operands[index(node)] = m_to.scratch(out.size());
            receive(node, operands[index(node)]);
        });
        auto held = operands[0];
        for (int node = 1; node < m_nodes && out.size() > 0; ++node) {
            if (alike)
                m_to.combine_alike(out, held, operands[index(node)]);
            else
                m_to.combine(out, held, operands[index(node)]);
            held = out;
        }
    }

    program_builder& m_to;
    std::span<int const> m_leaders;
    int m_nodes;
    int m_node;
};

} // namespace papcoll::inline v0::detail
