// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/impl.hpp>
#include <papcoll/policy/circulant.hpp>
#include <papcoll/policy/circulant_choice.hpp>
#include <papcoll/policy/members.hpp>
#include <papcoll/policy/plan_writer.hpp>
#include <papcoll/program/whole_operands.hpp>
#include <papcoll/scheduler/butterfly.hpp>
#include <papcoll/scheduler/circulant.hpp>
#include <papcoll/scheduler/circulant/census.hpp>
#include <papcoll/scheduler/circulant_all_gather.hpp>
#include <papcoll/scheduler/dissemination_all_gather.hpp>
#include <papcoll/scheduler/recursive_halving.hpp>
#include <papcoll/scheduler/reversed.hpp>
#include <papcoll/scheduler/scheduler_ref.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// Writes a plan of `circulant`.
class circulant_plan {
public:
    circulant_plan(circulant const& policy, call_shape const& shape, link_model const& link)
        : m_policy(policy)
        , m_shape(shape)
        , m_link(link)
        , m_plan(shape) {}

    [[nodiscard]] auto written() -> program {
        switch (m_shape.operation) {
        case collective_kind::broadcast:
            add_rooted(circulant_scheduler{});
            break;
        case collective_kind::reduce:
            add_rooted(reversed(circulant_scheduler{}));
            break;
        case collective_kind::all_gather:
            add_gather();
            break;
        case collective_kind::reduce_scatter:
            add_scatter();
            break;
        default:
            add_all_reduce();
            break;
        }
        return m_plan.finish();
    }

private:
    void add_rooted(scheduler_ref algorithm) {
        auto const layout = layout_of_root(m_shape, m_policy.blocks(m_shape, m_link));
        m_plan.add(algorithm, layout, windows_for(layout.longest() * m_shape.element_bytes, m_shape, m_link));
    }
    /// Whole parts in the fewest rounds, or many blocks at once.
    void add_ranked(scheduler_ref of_whole_parts, scheduler_ref of_blocks) {
        auto const cut = choose_circulant_parts(m_shape, m_link, m_policy.block_bytes);
        // Of n blocks one of each rank travels in a round, of whole parts half in the last round.
        auto const round = m_shape.bytes() / static_cast<std::size_t>(cut.blocks);
        if (cut.blocks > 1)
            m_plan.add(of_blocks, layout_of_ranks(m_shape, cut), windows_for(round, m_shape, m_link));
        else
            add_whole_parts(of_whole_parts);
    }
    void add_whole_parts(scheduler_ref algorithm) {
        m_plan.add(algorithm, layout_of_ranks(m_shape),
                   windows_of_dependent_rounds(m_shape.bytes() / 2, m_shape, m_link));
    }
    void add_gather() { add_ranked(circulant_all_gather_scheduler{}, circulant_scheduler{}); }
    void add_scatter() {
        if (!m_policy.block_bytes && is_better_halved(m_shape, m_link))
            return add_whole_parts(recursive_halving_scheduler{});
        add_ranked(reversed(circulant_all_gather_scheduler{}), reversed(circulant_scheduler{}));
    }
    void add_all_reduce() {
        int const ranks = m_shape.ranks;
        switch (choose_circulant_all_reduce(m_shape, m_link)) {
        case all_reduce_way::butterfly:
            return write_butterfly(m_plan.builder(), butterfly(ranks, m_shape.rank), m_shape.rank,
                                   m_shape.count);
        case all_reduce_way::census:
            return write_census(m_plan.builder(), circulant_census(ranks, m_shape.rank), m_shape.count);
        case all_reduce_way::scatter_gather:
            break;
        }
        add_scatter();
        if (is_better_doubled(m_shape, m_link) && !m_policy.block_bytes)
            add_whole_parts(dissemination_all_gather_scheduler{2});
        else
            add_gather();
    }
    circulant const& m_policy;
    call_shape const& m_shape;
    link_model const& m_link;
    plan_writer m_plan;
};

} // namespace detail

PAPCOLL_IMPL void circulant::check(call_shape const&) const { detail::check_block_bytes(block_bytes); }
PAPCOLL_IMPL auto circulant::fingerprint() const -> std::optional<std::vector<std::int64_t>> {
    return std::vector<std::int64_t>{static_cast<std::int64_t>(block_bytes.value_or(0))};
}
PAPCOLL_IMPL auto circulant::blocks(call_shape const& shape, link_model const& link) const -> int {
    bool const rooted =
        shape.operation == collective_kind::broadcast || shape.operation == collective_kind::reduce;
    return rooted ? detail::choose_circulant_blocks(shape, link, block_bytes)
                  : detail::choose_circulant_parts(shape, link, block_bytes).blocks;
}
PAPCOLL_IMPL auto circulant::plan(call_shape const& shape, link_model const& link) const -> program {
    return detail::circulant_plan(*this, shape, link).written();
}

} // namespace papcoll::inline v0
