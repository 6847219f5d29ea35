// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/circulant.hpp>
#include <papcoll/policy/circulant_choice.hpp>
#include <papcoll/policy/plan_writer.hpp>
#include <papcoll/policy/policy.hpp>
#include <papcoll/scheduler/rank_grid.hpp>
#include <papcoll/scheduler/reversed.hpp>
#include <papcoll/scheduler/two_level.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// Circulant graphs between nodes and within them, for ranks that share nodes: each block enters a node once,
/// where `circulant` sends it through the node's link for almost every rank there. The decomposition into
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
/// of very uneven sizes are gathered or scattered, it does what `circulant` does. Arrivals do not enter.
/// Operators must be commutative. All members must agree on all ranks. A rank computes its share alone, in
/// O(P log P + n).
///
///     papcoll::broadcast(world, values.data(), values.size(), 0, papcoll::two_level{});
struct two_level {
    /// Ranks in a row share a node; default: as agreed. The last node has fewer when it does not divide P.
    std::optional<int> ranks_per_node = {};
    /// L, of broadcast and reduce, at most k; default: one, which bench/results/two_level.md measures. More
    /// can pay where a node has several network links, or one rank cannot fill one.
    std::optional<int> lanes = {};
    /// The size of a block of broadcast and reduce, or of what `circulant` cuts; default: as there.
    std::optional<std::size_t> block_bytes = {};

    static constexpr bool reorders_operands = true;
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool {
        return circulant::provides(operation);
    }

    [[nodiscard]] auto name() const -> std::string_view { return "two_level"; }
    void check(call_shape const& shape) const {
        detail::require(ranks_per_node.value_or(1) >= 1, "ranks_per_node must be at least 1",
                        ranks_per_node.value_or(1));
        detail::require(lanes.value_or(1) >= 1, "lanes must be at least 1", lanes.value_or(1));
        flat().check(shape);
    }
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return std::vector<std::int64_t>{ranks_per_node.value_or(0), lanes.value_or(0),
                                         static_cast<std::int64_t>(block_bytes.value_or(0))};
    }
    /// Whether a call of this shape goes by nodes; otherwise it is one of `circulant`.
    [[nodiscard]] auto uses_nodes(call_shape const& shape, link_model const& link) const -> bool {
        auto const nodes = nodes_of(shape);
        return !nodes.empty() && worthwhile(rank_grid(nodes), shape, link);
    }
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program {
        if (!uses_nodes(shape, link)) return flat().plan(shape, link);
        auto const nodes = nodes_of(shape);
        plan_writer plan(shape);
        switch (shape.operation) {
        case collective_kind::broadcast:
            add_rooted<false>(plan, nodes, shape, link);
            break;
        case collective_kind::reduce:
            add_rooted<true>(plan, nodes, shape, link);
            break;
        case collective_kind::all_gather:
            add_ranked(plan, two_level_scheduler{nodes, 0}, shape, link);
            break;
        case collective_kind::reduce_scatter:
            add_ranked(plan, reversed(two_level_scheduler{nodes, 0}), shape, link);
            break;
        default:
            add_ranked(plan, reversed(two_level_scheduler{nodes, 0}), shape, link);
            add_ranked(plan, two_level_scheduler{nodes, 0}, shape, link);
            break;
        }
        return plan.finish();
    }

    friend auto operator==(two_level const&, two_level const&) -> bool = default;

private:
    [[nodiscard]] auto flat() const -> circulant { return {.block_bytes = block_bytes}; }
    // Not inlined: g++ 12 -O3 warns of what the vector frees.
    [[nodiscard, gnu::noinline]] auto nodes_of(call_shape const& shape) const -> std::vector<int> {
        if (!ranks_per_node) return {shape.nodes.begin(), shape.nodes.end()};
        std::vector<int> nodes(static_cast<std::size_t>(shape.ranks));
        for (int rank = 0; rank < shape.ranks; ++rank)
            nodes[static_cast<std::size_t>(rank)] = rank / *ranks_per_node;
        return nodes;
    }
    [[nodiscard]] static auto worthwhile(rank_grid const& grid, call_shape const& shape,
                                         link_model const& link) -> bool {
        if (!grid.even() || grid.nodes() == 1 || grid.per_node() == 1) return false;
        if (shape.operation == collective_kind::all_reduce)
            return detail::choose_circulant_all_reduce(shape, link) == detail::all_reduce_way::scatter_gather;
        return detail::choose_circulant_parts(shape, link, std::nullopt).blocks == 1;
    }

    static constexpr int most_blocks = 1 << 20; // of all lanes together

    struct cut {
        int lanes;
        int blocks; ///< of each lane
    };
    /// The link was measured with all ranks of a node at once, so one lane of m bytes takes no longer between
    /// nodes than k lanes of m/k each, and within nodes it passes blocks on as they come.
    [[nodiscard]] auto choose(rank_grid const& grid, call_shape const& shape, link_model const& link) const
        -> cut {
        int const used = std::min(lanes.value_or(1), grid.per_node());
        auto const count = static_cast<std::size_t>(used);
        if (block_bytes) {
            auto const elements = std::max<std::size_t>(*block_bytes / shape.element_bytes, 1);
            int const most = std::max(most_blocks / used, 1);
            return {used, std::min(detail::pieces_of(shape.count / count, elements), most)};
        }
        auto const rounds = circulant_skips(grid.nodes()).rounds();
        auto const share = shape.bytes() / static_cast<std::size_t>(grid.per_node());
        auto const n = detail::theorem_2_blocks(rounds, detail::volume_time(share, link),
                                                detail::round_latency(link) + detail::message_cost);
        // A block crosses to another node, or comes from there, and is passed on within this one.
        auto const most = std::min(detail::most_parts(shape), detail::most_blocks(shape, 3)) / used;
        return {used, static_cast<int>(std::clamp<std::int64_t>(n, 1, std::max<std::int64_t>(most, 1)))};
    }
    template <bool Reduces>
    void add_rooted(plan_writer& plan, std::vector<int> const& nodes, call_shape const& shape,
                    link_model const& link) const {
        auto const chosen = choose(rank_grid(nodes), shape, link);
        auto const layout = detail::layout_of_root(shape, chosen.lanes * chosen.blocks);
        auto const windows = detail::windows_for(layout.longest() * shape.element_bytes, shape, link);
        two_level_scheduler const algorithm{nodes, chosen.lanes};
        if constexpr (Reduces)
            plan.add(reversed(algorithm), layout, windows);
        else
            plan.add(algorithm, layout, windows);
    }
    /// As circulant's; half of all that is gathered travels in the last round.
    template <scheduler S>
    static void add_ranked(plan_writer& plan, S const& algorithm, call_shape const& shape,
                           link_model const& link) {
        plan.add(algorithm, detail::layout_of_ranks(shape),
                 detail::windows_of_dependent_rounds(shape.bytes() / 2, shape, link));
    }
};

} // namespace papcoll::inline v0
