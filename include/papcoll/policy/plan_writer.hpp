// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/policy.hpp>
#include <papcoll/program/block_program.hpp>
#include <papcoll/program/program_builder.hpp>
#include <papcoll/schedule/order_sign.hpp>
#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/scheduler/scheduler_ref.hpp>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// Writes the program of a call from schedules: a reduction, a dissemination, or one after the other. It
/// knows where the operands and parts of the call lie, and begins with what has to be done besides: the
/// rank's own part is copied to its place, or contributed.
///
///     plan_writer plan(shape);
///     plan.add(my_scheduler{}, layout, windows);
///     return plan.finish();
class plan_writer {
public:
    explicit plan_writer(call_shape const& shape)
        : m_shape(shape)
        , m_builder(shape.in_place) {
        if (has_parts() || scatters() || shape.operation == collective_kind::reduce_scatter)
            m_own_range = rank_ranges(shape)[static_cast<std::size_t>(shape.rank)];
        if (scatters()) take_own_part();
        if (!has_parts()) return;
        region const target(memory::out, m_own_range.offset, m_own_range.size);
        bool const has_target = shape.operation == collective_kind::all_gather || shape.rank == shape.root;
        m_own_part = has_target && (shape.in_place || shape.late) ? target : operand({0, m_own_range.size});
        if (shape.late) m_builder.contribution(m_own_part);
        if (has_target) m_builder.copy(target, m_own_part);
    }

    /// To write what is no schedule of blocks.
    [[nodiscard]] auto builder() -> program_builder& { return m_builder; }
    /// Of a gather or an all-gather: where the rank's own part is. Of a scatter: where it belongs.
    [[nodiscard]] auto own_part() const -> region { return m_own_part; }

    /// The share of this rank in a schedule of these blocks. In a dissemination after something else they lie
    /// where the result belongs.
    void add(schedule_kind kind, rank_schedule const& share, detail::block_layout const& layout,
             message_windows const& windows) {
        m_builder.use(windows);
        lower(m_builder, kind, share, m_shape.rank, places_in(kind, layout));
        m_begun = true;
    }
    /// The same in a schedule of which transfers wait for others; it begins when those before it have ended.
    void add(schedule_kind kind, ordered_schedule const& share, detail::block_layout const& layout,
             message_windows const& windows) {
        m_builder.use(windows);
        lower(m_builder, kind, share, m_shape.rank, places_in(kind, layout), m_received);
        m_begun = true;
    }
    /// The share that a scheduler gives this rank, where the ranks come at these `arrivals`.
    void add(scheduler_ref algorithm, detail::block_layout const& layout, message_windows const& windows,
             std::span<ticks const> arrivals = {}) {
        add(algorithm.kind(), share_of(algorithm, layout, arrivals), layout, windows);
    }
    /// The dissemination of blocks that lie where the result belongs, if the rank has them.
    void spread_out(rank_schedule const& share, std::vector<block_range> const& ranges,
                    std::vector<bool> owned, message_windows const& windows) {
        block_places places{std::vector<region>(ranges.size()), std::vector<region>(ranges.size()),
                            std::move(owned)};
        for (std::size_t b = 0; b < ranges.size(); ++b)
            (places.owned[b] ? places.held : places.result)[b] = result(ranges[b]);
        m_builder.use(windows);
        lower(m_builder, schedule_kind::dissemination, share, m_shape.rank, places);
    }
    /// A reduction and the dissemination of its results, with one numbering of steps.
    void add_spread(rank_schedule const& reduction, rank_schedule const& dissemination,
                    detail::block_layout const& layout, message_windows const& windows) {
        m_builder.use(windows);
        auto places = places_of_operands(layout);
        for (std::size_t b = 0; b < layout.ranges.size(); ++b) places.result[b] = result(layout.ranges[b]);
        lower_spread(m_builder, reduction, dissemination, m_shape.rank, places);
    }
    /// The share that a scheduler gives this rank, where the ranks come at these `arrivals`. Throws
    /// std::invalid_argument for one that names what is not there, or does not end with what it should.
    [[nodiscard]] auto share_of(scheduler_ref algorithm, detail::block_layout const& layout,
                                std::span<ticks const> arrivals = {}) const -> rank_schedule {
        problem const p{.ranks = m_shape.ranks,
                        .root = m_shape.root,
                        .blocks = static_cast<int>(layout.ranges.size()),
                        .arrivals = arrivals,
                        .owners = layout.owners};
        check(p);
        auto share = algorithm.for_rank(p, m_shape.rank);
        detail::require_well_formed(share, m_shape.rank, p);
        detail::require_complete(share, algorithm.kind(), m_shape.rank, p);
        return share;
    }

    /// The program, its messages cut where it then keeps within plan_limit().
    [[nodiscard]] auto finish() -> program {
        constexpr std::size_t beside = 4'000;
        return m_builder.finish(plan_limit(m_shape.ranks) - beside);
    }

private:
    [[nodiscard]] auto has_parts() const -> bool {
        return m_shape.operation == collective_kind::gather ||
               m_shape.operation == collective_kind::all_gather;
    }
    [[nodiscard]] auto scatters() const -> bool { return m_shape.operation == collective_kind::scatter; }
    /// In place the root's own stays where it is.
    void take_own_part() {
        m_own_part = region(memory::out, m_shape.in_place ? m_own_range.offset : 0, m_own_range.size);
        if (m_shape.rank == m_shape.root) m_builder.copy(m_own_part, operand(m_own_range));
    }
    static auto operand(block_range const& r) -> region { return {memory::in, r.offset, r.size}; }
    static auto result(block_range const& r) -> region { return {memory::out, r.offset, r.size}; }

    [[nodiscard]] auto places_in(schedule_kind kind, detail::block_layout const& layout) const
        -> block_places {
        return kind == schedule_kind::reduction ? places_of_operands(layout) : places_of(layout);
    }
    [[nodiscard]] auto places_of_operands(detail::block_layout const& layout) const -> block_places {
        bool const scatters = m_shape.operation == collective_kind::reduce_scatter;
        auto const begin = scatters ? m_own_range.offset : 0;
        auto places = empty_places(layout);
        for (std::size_t b = 0; b < layout.ranges.size(); ++b) {
            auto const& range = layout.ranges[b];
            places.held[b] = operand(range);
            if (places.owned[b]) places.result[b] = result({range.offset - begin, range.size});
        }
        return places;
    }
    [[nodiscard]] auto places_of(detail::block_layout const& layout) const -> block_places {
        bool const own_parts = has_parts() && !m_begun;
        auto places = empty_places(layout);
        for (std::size_t b = 0; b < layout.ranges.size(); ++b) {
            auto const& range = layout.ranges[b];
            if (!places.owned[b])
                places.result[b] = result(range);
            else if (own_parts)
                places.held[b] = m_own_part.part(range.offset - m_own_range.offset, range.size);
            else
                places.held[b] = result(range);
        }
        return places;
    }
    [[nodiscard]] auto empty_places(detail::block_layout const& layout) const -> block_places {
        auto const n = layout.ranges.size();
        return {std::vector<region>(n), std::vector<region>(n), layout.owned_by(m_shape)};
    }

    call_shape const& m_shape;
    program_builder m_builder;
    block_range m_own_range;
    region m_own_part;
    std::vector<program::index> m_received; // in ordered schedules
    bool m_begun = false;
};

} // namespace papcoll::inline v0
