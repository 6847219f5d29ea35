// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/circulant.hpp>
#include <papcoll/policy/policy.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

/// For ranks that share nodes: each block enters a node once, where `circulant` sends it through the node's
/// link for almost every rank there.
///
/// Where the ranks of each node share memory (see attach_options::node_memory), and ranks_per_node is not
/// given, one rank of each node does between the nodes what `circulant` does with as many ranks as there are
/// nodes, and within the nodes data goes by memory, at the speed of copying it: see node_exchange. In L > 1
/// lanes L ranks of each node do so, each with its share of m/L bytes of a broadcast, a reduce or an
/// all-reduce; the ranks of a node combine these shares, or put them together, in its memory. Nodes may have
/// different numbers of ranks then, in any order. In a gather, a scatter and an all-to-all one message goes
/// between the root and each other node, or between two nodes; a barrier is one of the leaders; a scan or an
/// exscan one of the nodes, where the ranks of each follow each other and their data has room in the memory.
///
/// Otherwise messages go by circulant graphs between nodes and within them. The decomposition into
/// lanes is that of Träff and Hunold (Decomposing Collectives for Exploiting Multi-lane Communication, 2020);
/// see two_level_scheduler.
///
/// With N nodes of k ranks, A = ⌈log2 N⌉, B = ⌈log2 k⌉ and m bytes:
///
/// - broadcast, reduce: n − 1 + A rounds of m/n bytes between nodes, in which each node passes the blocks on
///   as they come; in L > 1 lanes m/L are scattered before and gathered behind, in 2B rounds at most
/// - all_gather, reduce_scatter: A + B rounds; (N − 1)/N·m
/// - all_reduce: twice that; of short operands what `circulant` does
///
/// Which ranks share a node they tell each other when papcoll attaches, by the processors' names.
/// Where nodes have different numbers of ranks, a node has but one or there is only one node, and where parts
/// of very uneven sizes are gathered or scattered, it does what `circulant` does, or the policy for all ranks
/// alike that the collective has. Arrivals do not enter.
/// Operators must be commutative, but for a scan and an exscan. All members must agree on all ranks. A rank
/// computes its share alone, in O(P log P + n).
///
///     papcoll::broadcast(world, values.data(), values.size(), 0, papcoll::two_level{});
struct two_level {
    /// Ranks in a row share a node; default: as agreed. The last node has fewer when it does not divide P.
    std::optional<int> ranks_per_node = {};
    /// L, of broadcast and reduce, and of all_reduce where nodes share memory; at most as many as every node
    /// has ranks. Default: one, which bench/results/two_level.md measures. More can pay where a node has
    /// several network links, or one rank cannot fill one.
    std::optional<int> lanes = {};
    /// The size of a block of broadcast and reduce, or of what `circulant` cuts; default: as there.
    std::optional<std::size_t> block_bytes = {};

    static constexpr bool reorders_operands = true;
    /// Scans and exscans combine in rank order.
    static constexpr auto reorders_operands_of(collective_kind operation) -> bool {
        return !detail::is_prefix(operation);
    }
    /// Policies that compare equal have the same plans: the fingerprint need not be asked.
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind) -> bool { return true; }

    [[nodiscard]] auto name() const -> std::string_view { return "two_level"; }
    void check(call_shape const& shape) const;
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>>;
    /// Whether the ranks of a node go by the memory that they share in a call of this shape.
    [[nodiscard]] auto shares_memory(call_shape const& shape) const -> bool;
    /// Whether a call of this shape goes by nodes; otherwise it is one of `circulant`, `linear`, `pairwise`,
    /// `prefix_doubling` or `dissemination`.
    [[nodiscard]] auto uses_nodes(call_shape const& shape, link_model const& link) const -> bool;
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program;

    friend auto operator==(two_level const&, two_level const&) -> bool = default;
};

} // namespace papcoll::inline v0

#ifndef PAPCOLL_SEPARATE_COMPILATION
#include <papcoll/policy/impl/two_level.hpp>
#endif
