// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/impl.hpp>
#include <papcoll/policy/all_to_all.hpp>
#include <papcoll/policy/circulant_choice.hpp>
#include <papcoll/policy/dissemination.hpp>
#include <papcoll/policy/impl/shared_two_level.hpp>
#include <papcoll/policy/linear.hpp>
#include <papcoll/policy/members.hpp>
#include <papcoll/policy/plan_writer.hpp>
#include <papcoll/policy/prefix.hpp>
#include <papcoll/policy/two_level.hpp>
#include <papcoll/scheduler/rank_grid.hpp>
#include <papcoll/scheduler/reversed.hpp>
#include <papcoll/scheduler/scheduler_ref.hpp>
#include <papcoll/scheduler/two_level.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The nodes of the ranks; empty: not known. Not inlined: g++ 12 -O3 warns of what the vector frees.
[[nodiscard, gnu::noinline]] inline auto nodes_of(two_level const& policy, call_shape const& shape)
    -> std::vector<int> {
    if (!policy.ranks_per_node) return {shape.nodes.begin(), shape.nodes.end()};
    std::vector<int> nodes(static_cast<std::size_t>(shape.ranks));
    for (int rank = 0; rank < shape.ranks; ++rank)
        nodes[static_cast<std::size_t>(rank)] = rank / *policy.ranks_per_node;
    return nodes;
}

/// Writes a plan of `two_level` that goes by nodes.
class two_level_writer {
public:
    two_level_writer(two_level const& policy, call_shape const& shape, link_model const& link)
        : m_policy(policy)
        , m_shape(shape)
        , m_link(link)
        , m_nodes(nodes_of(policy, shape)) {}

    [[nodiscard]] auto worthwhile() const -> bool {
        if (m_nodes.empty() || !circulant::provides(m_shape.operation)) return false;
        rank_grid const grid(m_nodes);
        if (!grid.even() || grid.nodes() == 1 || grid.per_node() == 1) return false;
        if (m_shape.operation == collective_kind::all_reduce)
            return choose_circulant_all_reduce(m_shape, m_link) == all_reduce_way::scatter_gather;
        return choose_circulant_parts(m_shape, m_link, std::nullopt).blocks == 1;
    }
    [[nodiscard]] auto written() const -> program {
        plan_writer plan(m_shape);
        auto const what = m_shape.operation;
        bool const reduces = what == collective_kind::reduce || what == collective_kind::reduce_scatter ||
                             what == collective_kind::all_reduce;
        if (what == collective_kind::broadcast || what == collective_kind::reduce) {
            add_rooted(plan, reduces);
        } else {
            if (reduces) add_ranked(plan, reversed(two_level_scheduler{m_nodes, 0}));
            if (what != collective_kind::reduce_scatter) add_ranked(plan, two_level_scheduler{m_nodes, 0});
        }
        return plan.finish();
    }

private:
    struct cut {
        int lanes;
        int blocks; ///< of each lane
    };
    /// The link was measured with all ranks of a node at once, so one lane of m bytes takes no longer between
    /// nodes than k lanes of m/k each, and within nodes it passes blocks on as they come.
    [[nodiscard]] auto choose(rank_grid const& grid) const -> cut {
        int const lanes = std::min(m_policy.lanes.value_or(1), grid.per_node());
        if (m_policy.block_bytes) {
            auto const elements = std::max<std::size_t>(*m_policy.block_bytes / m_shape.element_bytes, 1);
            int const most = std::max((1 << 20) / lanes, 1);
            return {lanes,
                    std::min(blocks_for(m_shape.count / static_cast<std::size_t>(lanes), elements), most)};
        }
        auto const rounds = circulant_skips(grid.nodes()).rounds();
        auto const share = m_shape.bytes() / static_cast<std::size_t>(grid.per_node());
        auto const n = theorem_2_blocks(rounds, volume_time(share, m_link),
                                        round_latency(m_link) + message_cost(m_link));
        // A block crosses to another node, or comes from there, and is passed on within this one.
        auto const most = std::min(most_parts(m_shape), most_blocks(m_shape, 3)) / lanes;
        return {lanes, static_cast<int>(std::clamp<std::int64_t>(n, 1, std::max<std::int64_t>(most, 1)))};
    }
    void add_rooted(plan_writer& plan, bool reduces) const {
        auto const chosen = choose(rank_grid(m_nodes));
        auto const layout = layout_of_root(m_shape, chosen.lanes * chosen.blocks);
        auto const windows = windows_for(layout.longest() * m_shape.element_bytes, m_shape, m_link);
        two_level_scheduler const algorithm{m_nodes, chosen.lanes};
        if (reduces)
            plan.add(reversed(algorithm), layout, windows);
        else
            plan.add(algorithm, layout, windows);
    }
    /// As circulant's; half of all that is gathered travels in the last round.
    void add_ranked(plan_writer& plan, scheduler_ref algorithm) const {
        plan.add(algorithm, layout_of_ranks(m_shape),
                 windows_of_dependent_rounds(m_shape.bytes() / 2, m_shape, m_link));
    }

    two_level const& m_policy;
    call_shape const& m_shape;
    link_model const& m_link;
    std::vector<int> m_nodes;
};

} // namespace detail

PAPCOLL_IMPL void two_level::check(call_shape const&) const {
    detail::require(ranks_per_node.value_or(1) >= 1, "ranks_per_node must be at least 1",
                    ranks_per_node.value_or(1));
    detail::require(lanes.value_or(1) >= 1, "lanes must be at least 1", lanes.value_or(1));
    detail::check_block_bytes(block_bytes);
}
PAPCOLL_IMPL auto two_level::fingerprint() const -> std::optional<std::vector<std::int64_t>> {
    return std::vector<std::int64_t>{ranks_per_node.value_or(0), lanes.value_or(0),
                                     static_cast<std::int64_t>(block_bytes.value_or(0))};
}
PAPCOLL_IMPL auto two_level::shares_memory(call_shape const& shape) const -> bool {
    return !ranks_per_node && !shape.is_uneven() && detail::shared_two_level::serves(shape);
}
PAPCOLL_IMPL auto two_level::uses_nodes(call_shape const& shape, link_model const& link) const -> bool {
    return shares_memory(shape) || detail::two_level_writer(*this, shape, link).worthwhile();
}
PAPCOLL_IMPL auto two_level::plan(call_shape const& shape, link_model const& link) const -> program {
    if (shares_memory(shape)) {
        auto const source = std::make_shared<detail::shared_two_level const>(
            circulant{.block_bytes = block_bytes}, lanes.value_or(1), shape, link);
        return detail::within_limit(source, shape.in_place, shape.ranks, source->about_bytes());
    }
    switch (shape.operation) {
    case collective_kind::gather:
    case collective_kind::scatter:
        return linear{}.plan(shape, link);
    case collective_kind::all_to_all:
        return all_to_all_pairwise{}.plan(shape, link);
    case collective_kind::scan:
    case collective_kind::exscan:
        return prefix_doubling{}.plan(shape, link);
    case collective_kind::barrier:
        return dissemination{}.plan(shape, link);
    default:
        break;
    }
    detail::two_level_writer const writer(*this, shape, link);
    return writer.worthwhile() ? writer.written() : circulant{.block_bytes = block_bytes}.plan(shape, link);
}

} // namespace papcoll::inline v0
