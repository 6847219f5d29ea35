// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/held_bytes.hpp>
#include <papcoll/policy/circulant.hpp>
#include <papcoll/policy/circulant_choice.hpp>
#include <papcoll/policy/impl/leaders_at_once.hpp>
#include <papcoll/policy/impl/node_all_to_all.hpp>
#include <papcoll/policy/impl/node_barrier.hpp>
#include <papcoll/policy/impl/node_gather.hpp>
#include <papcoll/policy/impl/node_prefix.hpp>
#include <papcoll/policy/impl/node_scatter.hpp>
#include <papcoll/policy/impl/prefix.hpp>
#include <papcoll/policy/impl/shared_memory.hpp>
#include <papcoll/policy/radix_choice.hpp>
#include <papcoll/program/node_exchange.hpp>
#include <papcoll/program/prefix.hpp>
#include <papcoll/program/program_builder.hpp>
#include <papcoll/schedule/block_partition.hpp>
#include <papcoll/scheduler/rank_grid.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace papcoll::inline v0::detail {

/// A call of `two_level` whose ranks share the memory of their nodes: of each node one rank, the root where
/// it is there, does between the nodes what `circulant` does, and within its node all go by memory. For the
/// others see node_gather, node_scatter, node_all_to_all, node_prefix and write_node_barrier. Nodes may have
/// different numbers of ranks, in any order.
class shared_two_level final : public program::source {
public:
    /// `lanes`: of a broadcast, a reduce and an all-reduce, of long data.
    shared_two_level(circulant const& between, int lanes, call_shape const& shape, link_model const& link)
        : m_between(between)
        , m_link(link)
        , m_shape(shape)
        , m_grid(shape.nodes)
        , m_sizes(shape.sizes.begin(), shape.sizes.end())
        , m_displacements(shape.displacements.begin(), shape.displacements.end())
        , m_node(m_grid.node(shape.rank))
        , m_index(m_grid.index(shape.rank))
        , m_longest(std::max<std::size_t>(longest(shape, m_grid), 1))
        , m_stretch(node_stretches(shape).for_elements(m_longest))
        , m_lanes(lanes_for(lanes, shape, m_grid, m_stretch))
        , m_about_bytes(m_lanes > 1 ? about_bytes_in_lanes(shape, m_grid, m_lanes)
                                    : about_bytes(shape, m_grid)) {
        m_shape.sizes = m_shape.displacements = {};
        m_shape.nodes = {};
        m_shape.tuning = nullptr;
        for (int node = 0; node < m_grid.nodes(); ++node) m_leaders.push_back(leader_of(node));
        // The link was measured with all ranks of a node at once.
        auto const share = static_cast<double>(m_grid.nodes()) / m_grid.ranks();
        m_link.per_byte *= share;
        m_link.per_message *= share;
    }

    /// Whether calls of this shape can be made so: equal on all ranks.
    [[nodiscard]] static auto serves(call_shape const& shape) -> bool {
        if (shape.shared_bytes == 0 || shape.nodes.empty()) return false;
        rank_grid const grid(shape.nodes);
        if (grid.nodes() == 1 || grid.nodes() == shape.ranks || node_stretches(shape).longest() < 2)
            return false;
        if (shape.operation == collective_kind::all_to_all &&
            node_stretches(shape).longest() / 2 < node_all_to_all::window_of_one(grid))
            return false;
        if (is_prefix(shape.operation) &&
            (!node_prefix::serves(grid) || shape.count > node_stretches(shape).longest()))
            return false;
        return about_bytes(shape, grid) <= most_rounds_bytes;
    }
    [[nodiscard]] auto about_bytes() const -> std::size_t { return m_about_bytes; }
    [[nodiscard]] auto write() const -> program override {
        program_builder to(m_shape.in_place);
        if (members().size() > 1) to.share(m_stretch * members().size(), key_of(m_shape, m_sizes));
        node_exchange node(to, members(), m_index, m_stretch);
        switch (m_shape.operation) {
        case collective_kind::broadcast:
            broadcast(to, node);
            break;
        case collective_kind::reduce:
            reduce(to, node);
            break;
        case collective_kind::all_reduce:
            all_reduce(to, node);
            break;
        case collective_kind::all_gather:
            all_gather(to, node);
            break;
        case collective_kind::reduce_scatter:
            reduce_scatter(to, node);
            break;
        case collective_kind::gather:
            gather(to);
            break;
        case collective_kind::all_to_all:
            all_to_all(to);
            break;
        case collective_kind::scatter:
            scatter(to);
            break;
        case collective_kind::scan:
        case collective_kind::exscan:
            node_prefix(to, m_grid, m_shape, m_link, m_stretch).write(prefix_of(m_shape));
            break;
        case collective_kind::barrier:
            barrier(to);
            break;
        }
        return to.finish();
    }
    [[nodiscard]] auto held_bytes() const -> std::size_t override {
        auto const ranks = static_cast<std::size_t>(m_shape.ranks);
        return sizeof(*this) + detail::held_bytes(m_sizes, m_displacements) + 4 * ranks * sizeof(int);
    }

private:
    static auto index(int i) -> std::size_t { return static_cast<std::size_t>(i); }
    /// What the messages of an all-to-all are not cut below.
    static constexpr std::size_t least_message = std::size_t(16) << 10;
    [[nodiscard]] static auto most_members(rank_grid const& grid) -> std::size_t {
        std::size_t most = 0;
        for (int node = 0; node < grid.nodes(); ++node) most = std::max(most, grid.members(node).size());
        return most;
    }
    /// Whether one rank has or gets parts of all.
    [[nodiscard]] static auto has_parts_of_root(collective_kind operation) -> bool {
        return operation == collective_kind::gather || operation == collective_kind::scatter;
    }
    /// What of one rank goes through its stretch.
    [[nodiscard]] static auto longest(call_shape const& shape, rank_grid const& grid) -> std::size_t {
        if (has_parts_of_root(shape.operation)) return largest_part(shape);
        if (shape.operation != collective_kind::all_to_all) return shape.count;
        return shape.count / index(shape.ranks) * node_all_to_all::window_of_one(grid);
    }
    /// All but a gather, a scatter and an all-to-all goes through the memory twice.
    [[nodiscard]] static auto about_bytes(call_shape const& shape, rank_grid const& grid) -> std::size_t {
        auto const rounds = longest(shape, grid) / (node_stretches(shape).longest() / 2) + 1;
        auto const most = most_members(grid);
        if (shape.operation == collective_kind::all_to_all) {
            auto const message = shape.bytes() / index(shape.ranks) * most * most;
            return rounds_bytes(rounds + message / least_message, index(shape.ranks));
        }
        if (!has_parts_of_root(shape.operation)) return rounds_bytes(2 * rounds, most);
        return rounds_bytes(rounds, std::max(most, index(grid.nodes())));
    }

    /// In lanes each of a few ranks of a node combines, or gets, as much as each of all ranks has room for.
    [[nodiscard]] static auto about_bytes_in_lanes(call_shape const& shape, rank_grid const& grid, int lanes)
        -> std::size_t {
        return about_bytes(shape, grid) * most_members(grid) / index(lanes);
    }

    [[nodiscard]] auto members() const -> std::span<int const> { return m_grid.members(m_node); }
    [[nodiscard]] auto is_rooted() const -> bool {
        return m_shape.operation == collective_kind::broadcast ||
               m_shape.operation == collective_kind::reduce;
    }
    [[nodiscard]] auto leader_of(int node) const -> int {
        if (is_rooted() && m_grid.node(m_shape.root) == node) return m_shape.root;
        return m_grid.members(node).front();
    }
    /// Of this node, by its position there.
    [[nodiscard]] auto leader() const -> int { return m_grid.index(m_leaders[index(m_node)]); }
    [[nodiscard]] auto leads() const -> bool { return leader() == m_index; }
    [[nodiscard]] auto is_alone() const -> bool { return members().size() == 1; }
    [[nodiscard]] auto chunk() const -> std::size_t {
        return std::max<std::size_t>(m_longest <= m_stretch ? m_longest : m_stretch / 2, 1);
    }
    /// Of a block, so much that the messages between all nodes keep step: of long ones that share a link some
    /// pass others, and then links are idle while the last ones end.
    [[nodiscard]] auto chunk_of_block(std::size_t block) const -> std::size_t {
        auto const eight_latencies = 8 * round_latency(m_link) / std::max(m_link.per_byte, 1e-3);
        auto const bytes = std::max(least_message, static_cast<std::size_t>(eight_latencies));
        auto const ranks = most_members(m_grid);
        auto const together = bytes / (ranks * ranks * m_shape.element_bytes);
        if (block <= 2 * together && m_longest <= m_stretch) return std::max<std::size_t>(block, 1);
        auto const room = m_stretch / 2 / node_all_to_all::window_of_one(m_grid);
        return std::max<std::size_t>(std::min(together, room), 1);
    }
    [[nodiscard]] auto all(memory where) const -> region { return {where, 0, m_shape.count}; }

    /// Each rank of a lane has a window for every other one of its node; there is a rank of each node in it.
    [[nodiscard]] static auto most_lanes(call_shape const& shape, rank_grid const& grid, std::size_t stretch)
        -> int {
        auto const what = shape.operation;
        bool const has_lanes = what == collective_kind::broadcast || what == collective_kind::reduce ||
                               what == collective_kind::all_reduce;
        if (!has_lanes || stretch / 2 < most_members(grid)) return 1;
        auto least = grid.members(0).size();
        for (int node = 1; node < grid.nodes(); ++node) least = std::min(least, grid.members(node).size());
        return static_cast<int>(least);
    }
    /// As many as are wanted and as can be, if that does not make the program too large.
    [[nodiscard]] static auto lanes_for(int wanted, call_shape const& shape, rank_grid const& grid,
                                        std::size_t stretch) -> int {
        int const lanes = std::min(wanted, most_lanes(shape, grid, stretch));
        return lanes > 1 && about_bytes_in_lanes(shape, grid, lanes) <= most_rounds_bytes ? lanes : 1;
    }
    /// The lane of the rank at this place of its node; from m_lanes on: none. The leader's is the first.
    [[nodiscard]] auto lane_at(int place) const -> int {
        auto const ranks = static_cast<int>(members().size());
        return (place - leader() + ranks) % ranks;
    }
    [[nodiscard]] auto share_of_lane(region const& whole, int lane) const -> region {
        block_partition const shares{m_shape.count, m_lanes};
        return lane < m_lanes ? whole.part(shares.offset(lane), shares.size(lane)) : whole.part(0, 0);
    }
    [[nodiscard]] auto own_share(region const& whole) const -> region {
        return share_of_lane(whole, lane_at(m_index));
    }
    [[nodiscard]] auto shares_here(region const& whole) const -> std::vector<region> {
        std::vector<region> shares;
        for (int place = 0; place < static_cast<int>(members().size()); ++place)
            shares.push_back(share_of_lane(whole, lane_at(place)));
        return shares;
    }
    /// Between the ranks of this rank's lane, if it is of one. The lanes share the links.
    void add_lane(program_builder& to, bool in_place, region const& share) const {
        int const lane = lane_at(m_index);
        if (lane >= m_lanes) return;
        std::vector<int> ranks;
        for (int node = 0; node < m_grid.nodes(); ++node) {
            auto const there = m_grid.members(node);
            auto const first = index(m_grid.index(m_leaders[index(node)]));
            ranks.push_back(there[(first + index(lane)) % there.size()]);
        }
        auto link = m_link;
        link.per_byte *= m_lanes;
        auto shape = between_nodes(in_place);
        shape.count = share.size();
        append(to, m_between.plan(shape, link), {share, share, ranks});
    }

    [[nodiscard]] auto root_node() const -> int { return is_rooted() ? m_grid.node(m_shape.root) : 0; }
    /// The call of one rank of each node.
    [[nodiscard]] auto between_nodes(bool in_place) const -> call_shape {
        auto shape = m_shape;
        shape.ranks = m_grid.nodes();
        shape.rank = m_node;
        shape.root = root_node();
        shape.in_place = in_place;
        shape.has_native = false;
        shape.shared_bytes = 0;
        return shape;
    }
    /// What is copied behind it is cut as its messages are, so that it is done while they move.
    static void append(program_builder& to, program const& between, program_builder::mapping const& where) {
        to.append(between, where);
        for (auto i = between.size(); i-- > 0;)
            if (between.is_message(i)) return to.use(between.windows_of(i));
    }
    /// Between the leaders, on these regions.
    void add_between(program_builder& to, bool in_place, region const& in, region const& out,
                     std::span<std::size_t const> sizes = {}) const {
        if (!m_between.block_bytes &&
            leaders_at_once::is_shorter(m_shape.operation, m_grid.nodes(), m_shape.bytes(), m_link))
            return add_at_once(to, in, out, sizes);
        auto shape = between_nodes(in_place);
        shape.sizes = sizes;
        append(to, m_between.plan(shape, m_link), {in, out, m_leaders});
    }
    void add_at_once(program_builder& to, region const& in, region const& out,
                     std::span<std::size_t const> sizes) const {
        leaders_at_once between(to, m_leaders, m_node);
        switch (m_shape.operation) {
        case collective_kind::broadcast:
            return between.broadcast(root_node(), out);
        case collective_kind::reduce:
            return between.reduce(root_node(), in, out);
        case collective_kind::all_reduce:
            return between.all_reduce(in, out);
        case collective_kind::all_gather:
            return between.all_gather(out, sizes);
        default:
            return between.reduce_scatter(in, out, sizes);
        }
    }

    void broadcast(program_builder& to, node_exchange& node) const {
        auto const data = all(memory::out);
        if (m_lanes > 1) return broadcast_in_lanes(to, node, data);
        if (leads()) add_between(to, false, data, data);
        if (!is_alone()) node.broadcast(leader(), data, chunk());
    }
    void broadcast_in_lanes(program_builder& to, node_exchange& node, region const& data) const {
        bool const has_all = m_node == root_node();
        if (has_all) node.broadcast(leader(), data, chunk());
        auto const own = own_share(data);
        add_lane(to, false, own);
        if (!has_all) node.all_gather(shares_here(data), own, m_stretch / 2);
    }
    void reduce(program_builder& to, node_exchange& node) const {
        bool const is_root = m_shape.rank == m_shape.root;
        if (m_lanes > 1) return reduce_in_lanes(to, node);
        if (is_alone()) return add_between(to, m_shape.in_place, all(memory::in), all(memory::out));
        auto const partial = is_root ? all(memory::out) : leads() ? to.scratch(m_shape.count) : region();
        node.reduce(leader(), all(memory::in), partial, chunk());
        if (leads()) add_between(to, is_root, partial, partial);
    }
    void reduce_in_lanes(program_builder& to, node_exchange& node) const {
        auto const operands = shares_here(all(memory::in));
        auto const partial = to.scratch(operands[index(m_index)].size());
        bool const gets_all = m_node == root_node();
        node.reduce_scatter(operands, partial);
        add_lane(to, gets_all, partial);
        if (!gets_all) return;
        node.settle();
        node.gather(leader(), shares_here(leads() ? all(memory::out) : all(memory::in)), partial, chunk());
    }
    void all_reduce_in_lanes(program_builder& to, node_exchange& node) const {
        auto const result = all(memory::out);
        auto const own = own_share(result);
        node.reduce_scatter(shares_here(all(memory::in)), own);
        add_lane(to, true, own);
        node.settle();
        node.all_gather(shares_here(result), own, m_stretch / 2);
    }
    void all_reduce(program_builder& to, node_exchange& node) const {
        if (m_lanes > 1) return all_reduce_in_lanes(to, node);
        if (is_alone()) return add_between(to, m_shape.in_place, all(memory::in), all(memory::out));
        auto const result = all(memory::out);
        node.reduce(leader(), all(memory::in), result, chunk());
        if (leads()) add_between(to, true, result, result);
        node.broadcast(leader(), result, chunk());
    }

    /// The parts of all ranks as they follow each other node by node, and how much each node has.
    struct by_node {
        std::vector<block_range> parts; ///< of each rank
        std::vector<std::size_t> sizes; ///< of each node
        std::size_t begin = 0;          ///< of this node's
    };
    [[nodiscard]] auto order(std::vector<block_range> const& parts) const -> by_node {
        by_node result{std::vector<block_range>(parts.size()), {}};
        std::size_t next = 0;
        for (int node = 0; node < m_grid.nodes(); ++node) {
            auto const begin = next;
            if (node == m_node) result.begin = begin;
            for (int const rank : m_grid.members(node)) {
                result.parts[index(rank)] = {next, parts[index(rank)].size};
                next += parts[index(rank)].size;
            }
            result.sizes.push_back(next - begin);
        }
        return result;
    }
    [[nodiscard]] auto user_parts() const -> std::vector<block_range> {
        auto shape = m_shape;
        shape.sizes = m_sizes;
        shape.displacements = m_displacements;
        return rank_ranges(shape);
    }
    /// Where the first part begins, if the others are as far from it as by node.
    [[nodiscard]] static auto same_order(std::vector<block_range> const& parts, by_node const& ordered)
        -> std::optional<std::size_t> {
        std::optional<std::size_t> begin;
        for (std::size_t r = 0; r < parts.size(); ++r) {
            if (parts[r].size == 0) continue;
            if (parts[r].offset < ordered.parts[r].offset) return std::nullopt;
            auto const here = parts[r].offset - ordered.parts[r].offset;
            if (begin.value_or(here) != here) return std::nullopt;
            begin = here;
        }
        return begin.value_or(0);
    }
    [[nodiscard]] static auto part_of(region const& whole, block_range const& part) -> region {
        return whole.part(part.offset, part.size);
    }
    /// Of each rank of this node.
    [[nodiscard]] auto parts_here(region const& whole, by_node const& ordered, std::size_t begin) const
        -> std::vector<region> {
        std::vector<region> parts;
        for (int const rank : members()) {
            auto const& part = ordered.parts[index(rank)];
            parts.push_back(whole.part(part.offset - begin, part.size));
        }
        return parts;
    }

    void all_gather(program_builder& to, node_exchange& node) const {
        auto const parts = user_parts();
        auto const ordered = order(parts);
        auto const begin = same_order(parts, ordered);
        auto const whole = begin ? region(memory::out, *begin, m_shape.count) : to.scratch(m_shape.count);
        auto const& mine = parts[index(m_shape.rank)];
        region const own =
            m_shape.in_place ? region(memory::out, mine.offset, mine.size) : region(memory::in, 0, mine.size);
        if (is_alone())
            to.copy(part_of(whole, ordered.parts[index(m_shape.rank)]), own);
        else
            node.gather(leader(), parts_here(whole, ordered, 0), own, chunk());
        if (leads()) add_between(to, true, whole, whole, ordered.sizes);
        if (!is_alone()) node.broadcast(leader(), whole, chunk());
        for (std::size_t r = 0; r < parts.size() && !begin; ++r)
            to.copy(region(memory::out, parts[r].offset, parts[r].size), part_of(whole, ordered.parts[r]));
    }
    void gather(program_builder& to) const {
        auto const parts = user_parts();
        auto const& mine = parts[index(m_shape.rank)];
        bool const at_target = m_shape.in_place && m_shape.rank == m_shape.root;
        region const own =
            at_target ? region(memory::out, mine.offset, mine.size) : region(memory::in, 0, mine.size);
        node_gather(m_grid, m_shape.rank, m_shape.root, parts, own, chunk(), m_stretch).write(to);
    }
    void scatter(program_builder& to) const {
        auto const parts = user_parts();
        auto const& mine = parts[index(m_shape.rank)];
        bool const stays = m_shape.in_place && m_shape.rank == m_shape.root;
        region const own(memory::out, stays ? mine.offset : 0, mine.size);
        node_scatter(m_grid, m_shape.rank, m_shape.root, parts, own, chunk(), m_stretch).write(to);
    }
    void barrier(program_builder& to) const {
        auto const chosen = choose_signs(m_grid.nodes(), m_link);
        write_node_barrier(to, members(), m_shape.rank, m_leaders, m_node, chosen);
    }
    void all_to_all(program_builder& to) const {
        auto const n = m_shape.count / index(m_shape.ranks);
        node_all_to_all(m_grid, m_shape.rank, n, chunk_of_block(n), m_stretch).write(to);
    }
    void reduce_scatter(program_builder& to, node_exchange& node) const {
        auto const parts = user_parts();
        auto const ordered = order(parts);
        region const own(memory::out, 0, parts[index(m_shape.rank)].size);
        auto whole = all(memory::in);
        if (!is_alone()) {
            if (leads()) whole = to.scratch(m_shape.count);
            node.reduce(leader(), all(memory::in), leads() ? whole : region(), chunk());
        }
        auto const here = leads() ? to.scratch(ordered.sizes[index(m_node)]) : all(memory::in);
        if (leads()) {
            if (same_order(parts, ordered) != std::size_t(0)) {
                auto const moved = to.scratch(m_shape.count);
                for (std::size_t r = 0; r < parts.size(); ++r)
                    to.copy(part_of(moved, ordered.parts[r]), part_of(whole, parts[r]));
                whole = moved;
            }
            add_between(to, false, whole, here, ordered.sizes);
        }
        if (is_alone())
            to.copy(own, here);
        else
            node.scatter(leader(), parts_here(here, ordered, ordered.begin), own, chunk());
    }

    circulant m_between;
    link_model m_link;
    call_shape m_shape;
    rank_grid m_grid;
    std::vector<std::size_t> m_sizes, m_displacements;
    int m_node;
    int m_index;
    std::size_t m_longest; // elements
    std::size_t m_stretch;
    int m_lanes;
    std::size_t m_about_bytes;
    std::vector<int> m_leaders; // by node
};

} // namespace papcoll::inline v0::detail
