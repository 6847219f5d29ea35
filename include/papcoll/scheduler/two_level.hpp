// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/circulant.hpp>
#include <papcoll/scheduler/circulant/rounds.hpp>
#include <papcoll/scheduler/circulant/skips.hpp>
#include <papcoll/scheduler/circulant_all_gather.hpp>
#include <papcoll/scheduler/detail/owned_blocks.hpp>
#include <papcoll/scheduler/rank_grid.hpp>
#include <papcoll/scheduler/reversed.hpp>
#include <papcoll/scheduler/sub_group.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// Broadcasts, or all-gathers, among ranks of which k share each of N nodes: every block goes once to each
/// node, and is passed on within it. The decomposition into lanes, one for each place on a node, is a general
/// technique (Träff and Hunold, Decomposing Collectives for Exploiting Multi-lane Communication, 2020).
///
/// With A = ⌈log2 N⌉ and B = ⌈log2 k⌉:
///
/// - one owner, L > 1 lanes: the root scatters the blocks, cut into L contiguous groups, over L ranks of its
///   node (⌈log2 L⌉ steps); each group is broadcast among the ranks of equal place by circulant_scheduler
///   (n − 1 + A steps for n blocks in a group), all at once; within each node circulant_all_gather_scheduler
///   brings the groups together (B steps).
/// - one owner, one lane: the blocks are broadcast among the ranks of the root's place, and within each
///   node by circulant_scheduler as they come.
/// - several owners: circulant_all_gather_scheduler among the ranks of each place (A steps), and then within
///   each node (B steps).
///
/// A node receives each block once; one-ported throughout. The arrivals do not enter. One rank's share:
/// O(P log P + problem.blocks + T) for T transfers of this rank.
///
/// Throws std::invalid_argument for a malformed problem, a rank out of range, nodes of unequal numbers of
/// ranks, or lanes that are negative or more than k.
struct two_level_scheduler {
    /// The node of each rank, any numbers; not owned.
    std::span<int const> nodes = {};
    /// L, of one owner's blocks; 0: k.
    int lanes = 0;

    static constexpr auto kind = schedule_kind::dissemination;

    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> rank_schedule;
};

/// The steps backwards: reductions within the nodes before those between them, and each node sends one
/// partial result of a block. Operators must be commutative.
template <>
struct reversed_scheduler<two_level_scheduler> {
    two_level_scheduler forward;

    static constexpr auto kind = schedule_kind::reduction;

    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> rank_schedule;
};

namespace detail {

class two_level_plan {
public:
    two_level_plan(two_level_scheduler const& s, problem const& p, int rank)
        : m_problem(p)
        , m_grid(s.nodes)
        , m_rank(rank) {
        check_rank(p, rank);
        require(m_grid.ranks() == p.ranks, "nodes must have one entry per rank", m_grid.ranks());
        require(m_grid.even(), "every node must have as many ranks as the first", m_grid.per_node());
        require(s.lanes >= 0 && s.lanes <= m_grid.per_node(),
                "lanes must be at most the ranks of a node, and not negative", s.lanes);
        m_lanes = s.lanes == 0 ? m_grid.per_node() : s.lanes;
    }

    [[nodiscard]] auto share() && -> circulant_share {
        int const root = only_owner(m_problem);
        if (root < 0)
            all_gather();
        else if (m_lanes == 1)
            broadcast_in_one(root);
        else
            broadcast_in_lanes(root);
        return std::move(m_share);
    }

private:
    static auto rounds(int ranks) -> int { return circulant_skips(ranks).rounds(); }

    void all_gather() {
        std::vector<int> in_lane, nodes, all, indices;
        for (int b = 0; b < m_problem.blocks; ++b) {
            int const owner = m_problem.owner(b);
            all.push_back(b);
            indices.push_back(m_grid.index(owner));
            if (indices.back() != m_grid.index(m_rank)) continue;
            in_lane.push_back(b);
            nodes.push_back(m_grid.node(owner));
        }
        auto const lane = lane_of(m_grid.index(m_rank));
        circulant_all_gather_scheduler const gather;
        add(on_subgroup(gather, {lane, in_lane, nodes}, m_grid.node(m_rank)));
        m_share.rounds = rounds(m_grid.nodes());
        auto const mine = m_grid.members(m_grid.node(m_rank));
        add(on_subgroup(gather, {mine, all, indices}, m_grid.index(m_rank)));
        m_share.rounds += rounds(m_grid.per_node());
    }

    // A block reaches all nodes within 2A rounds of leaving the root, and is passed on from then on.
    void broadcast_in_one(int root) {
        std::vector<int> const all = blocks_of_lane(0);
        int const place = place_of(m_rank, root);
        int const across = rounds(m_grid.nodes());
        auto const n = static_cast<step_type>(m_problem.blocks);
        auto const lane = lane_of(m_grid.index(root));
        sub_group const group{lane, all, {}, m_grid.node(root)};
        if (place == 0) add(on_subgroup(circulant_scheduler{}, group, m_grid.node(m_rank)), 2);
        auto const mine = by_place(root);
        m_share.rounds = 2 * passing_delay(across) + 1;
        add(on_subgroup(circulant_scheduler{}, {mine, all}, place), 2);
        m_share.rounds += 2 * (n - 1 + std::max(rounds(m_grid.per_node()), across));
        sort_steps(m_share.transfers);
    }
    static auto passing_delay(int across) -> step_type { return step_type{2} * across; }

    void broadcast_in_lanes(int root) {
        int const place = place_of(m_rank, root);
        bool const at_root = m_grid.node(m_rank) == m_grid.node(root);
        if (at_root && place < m_lanes) scatter(root, place);
        m_share.rounds = rounds(m_lanes);
        if (place < m_lanes) {
            auto const own = blocks_of_lane(place);
            auto const lane = lane_of(m_grid.index(m_rank));
            sub_group const group{lane, own, {}, m_grid.node(root)};
            add(on_subgroup(circulant_scheduler{}, group, m_grid.node(m_rank)));
        }
        m_share.rounds += longest_lane() - 1 + rounds(m_grid.nodes());
        std::vector<int> all, owners;
        for (int b = 0; b < m_problem.blocks; ++b) {
            all.push_back(b);
            owners.push_back(lane_of_block(b));
        }
        auto const mine = by_place(root);
        auto part = on_subgroup(circulant_all_gather_scheduler{}, {mine, all, owners}, place);
        if (at_root) leave_out_scattered(part, root, place);
        add(part);
        m_share.rounds += rounds(m_grid.per_node());
    }

    // Halves a range of lanes again and again; the first of each half holds its blocks.
    void scatter(int root, int place) {
        auto const mine = by_place(root);
        int low = 0;
        int high = m_lanes;
        for (step_type step = 0; high - low > 1; ++step) {
            int const middle = low + (high - low + 1) / 2;
            if (place == low) add_lanes(m_share.transfers.sends, step, mine[index(middle)], middle, high);
            if (place == middle) add_lanes(m_share.transfers.receives, step, mine[index(low)], middle, high);
            (place < middle ? high : low) = middle;
        }
    }
    void add_lanes(std::vector<rank_transfer>& list, step_type step, int peer, int first, int last) const {
        for (int b = 0; b < m_problem.blocks; ++b)
            if (int const lane = lane_of_block(b); lane >= first && lane < last)
                list.push_back({step, peer, b});
    }
    /// Behind the lanes that the scatter brings to a place: when it gets them, or all for the root.
    [[nodiscard]] auto scattered_until(int place) const -> int {
        int low = 0;
        int high = m_lanes;
        while (low != place && high - low > 1) {
            int const middle = low + (high - low + 1) / 2;
            (place < middle ? high : low) = middle;
        }
        return low == place ? high : place;
    }
    void leave_out_scattered(rank_schedule& part, int root, int place) const {
        auto const there = [&](int at, int block) {
            int const lane = lane_of_block(block);
            return lane >= at && lane < scattered_until(at);
        };
        std::erase_if(part.sends, [&](auto const& t) { return there(place_of(t.peer, root), t.block); });
        std::erase_if(part.receives, [&](auto const& t) { return there(place, t.block); });
    }

    /// Counted from the root's place on its node.
    [[nodiscard]] auto place_of(int rank, int root) const -> int {
        return on_ring(m_grid.index(rank), -m_grid.index(root), m_grid.per_node());
    }
    /// The ranks of this node, by place.
    [[nodiscard]] auto by_place(int root) const -> std::vector<int> {
        auto const members = m_grid.members(m_grid.node(m_rank));
        std::vector<int> ranks(members.begin(), members.end());
        std::rotate(ranks.begin(), ranks.begin() + m_grid.index(root), ranks.end());
        return ranks;
    }
    /// The ranks of equal index, by node.
    [[nodiscard]] auto lane_of(int rank_index) const -> std::vector<int> {
        std::vector<int> ranks;
        ranks.reserve(static_cast<std::size_t>(m_grid.nodes()));
        for (int node = 0; node < m_grid.nodes(); ++node)
            ranks.push_back(m_grid.members(node)[index(rank_index)]);
        return ranks;
    }
    [[nodiscard]] auto lane_of_block(int block) const -> int {
        return static_cast<int>(std::int64_t{block} * m_lanes / m_problem.blocks);
    }
    [[nodiscard]] auto blocks_of_lane(int lane) const -> std::vector<int> {
        std::vector<int> blocks;
        for (int b = 0; b < m_problem.blocks; ++b)
            if (lane_of_block(b) == lane) blocks.push_back(b);
        return blocks;
    }
    [[nodiscard]] auto longest_lane() const -> step_type {
        return (step_type{m_problem.blocks} + m_lanes - 1) / m_lanes;
    }

    static auto index(int i) -> std::size_t { return static_cast<std::size_t>(i); }
    void add(rank_schedule const& part, step_type stride = 1) {
        append_part(m_share.transfers, part, m_share.rounds, stride);
    }

    problem const& m_problem;
    rank_grid m_grid;
    int m_rank;
    int m_lanes = 1;
    circulant_share m_share;
};

} // namespace detail

inline auto two_level_scheduler::for_rank(problem const& p, int rank) const -> rank_schedule {
    return detail::two_level_plan(*this, p, rank).share().transfers;
}

inline auto reversed_scheduler<two_level_scheduler>::for_rank(problem const& p, int rank) const
    -> rank_schedule {
    auto share = detail::two_level_plan(forward, p, rank).share();
    return detail::circulant_reversed(std::move(share.transfers), share.rounds - 1);
}

} // namespace papcoll::inline v0
