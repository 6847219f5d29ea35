// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/circulant_choice.hpp>
#include <papcoll/policy/plan_writer.hpp>
#include <papcoll/policy/policy.hpp>
#include <papcoll/program/block_program.hpp>
#include <papcoll/program/whole_operands.hpp>
#include <papcoll/scheduler/butterfly.hpp>
#include <papcoll/scheduler/circulant.hpp>
#include <papcoll/scheduler/circulant/census.hpp>
#include <papcoll/scheduler/circulant_all_gather.hpp>
#include <papcoll/scheduler/reversed.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// Träff's circulant graphs, for every collective but gather and all_to_all: the fewest rounds and the least
/// volume that one-ported ranks can do with, at every number of ranks (Träff, (Poly)Logarithmic Time
/// Construction of Round-optimal n-Block Broadcast Schedules, 2022).
///
/// With q = ⌈log2 P⌉ rounds to fill the pipeline, m bytes and n blocks:
///
/// - broadcast, reduce: n − 1 + q rounds; (n − 1 + q)·m/n bytes pass a link
/// - all_gather and reduce_scatter of ranks alike: q rounds; (P − 1)/P·m
/// - of uneven sizes: q rounds, or n − 1 + q where that is less time, for n blocks of each long part, whose m
/// bytes cost (n − 1 + q)·m/n at most; short parts stay whole
/// - all_reduce: 2q rounds; 2·(P − 1)/P·m
/// - all_reduce of short operands: ⌊log2 P⌋ rounds, two more unless P is a power of two; m in each (a
/// butterfly)
/// - or q rounds; (P − 1)·m, or q·m where the operator is exactly associative
///
/// Arrivals do not enter the schedules. Operators must be commutative. A rank computes its share alone, in
/// O(n + log P) (of uneven sizes: O(P log P + N) for N blocks of all ranks), and by default N is so small
/// that the plan keeps within plan_limit(P).
struct circulant {
    /// The size of a block; default: that of the shortest time on the measured link (paper 3, Theorem 2).
    /// `block_bytes` must agree on all ranks.
    std::optional<std::size_t> block_bytes = {};

    static constexpr bool reorders_operands = true;
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool {
        return operation != collective_kind::gather && operation != collective_kind::all_to_all;
    }

    [[nodiscard]] auto name() const -> std::string_view { return "circulant"; }
    void check(call_shape const&) const {
        if (block_bytes && *block_bytes == 0)
            throw std::invalid_argument("papcoll: block_bytes must be at least 1, but are 0");
    }
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return std::vector<std::int64_t>{static_cast<std::int64_t>(block_bytes.value_or(0))};
    }
    /// Into how many blocks the data is cut, or the long ones among the parts of the ranks.
    [[nodiscard]] auto blocks(call_shape const& shape, link_model const& link) const -> int {
        bool const rooted =
            shape.operation == collective_kind::broadcast || shape.operation == collective_kind::reduce;
        return rooted ? detail::choose_circulant_blocks(shape, link, block_bytes)
                      : detail::choose_circulant_parts(shape, link, block_bytes).blocks;
    }
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program {
        plan_writer plan(shape);
        switch (shape.operation) {
        case collective_kind::broadcast:
            add_rooted(plan, circulant_scheduler{}, shape, link);
            break;
        case collective_kind::reduce:
            add_rooted(plan, reversed(circulant_scheduler{}), shape, link);
            break;
        case collective_kind::all_gather:
            add_gather(plan, shape, link);
            break;
        case collective_kind::reduce_scatter:
            add_scatter(plan, shape, link);
            break;
        default:
            add_all_reduce(plan, shape, link);
            break;
        }
        return plan.finish();
    }

    friend auto operator==(circulant const&, circulant const&) -> bool = default;

private:
    template <scheduler S>
    void add_rooted(plan_writer& plan, S const& algorithm, call_shape const& shape,
                    link_model const& link) const {
        auto const layout = detail::layout_of_root(shape, blocks(shape, link));
        plan.add(algorithm, layout, detail::windows_for(layout.longest() * shape.element_bytes, shape, link));
    }
    /// Whole parts in the fewest rounds, or many blocks at once.
    template <scheduler Whole, scheduler Blocks>
    void add_ranked(plan_writer& plan, call_shape const& shape, link_model const& link) const {
        auto const cut = detail::choose_circulant_parts(shape, link, block_bytes);
        // Of n blocks one of each rank travels in a round, of whole parts half in the last round.
        auto const round = shape.bytes() / static_cast<std::size_t>(cut.blocks);
        if (cut.blocks > 1)
            plan.add(Blocks{}, detail::layout_of_ranks(shape, cut), detail::windows_for(round, shape, link));
        else
            plan.add(Whole{}, detail::layout_of_ranks(shape),
                     detail::windows_of_dependent_rounds(round / 2, shape, link));
    }
    void add_gather(plan_writer& plan, call_shape const& shape, link_model const& link) const {
        add_ranked<circulant_all_gather_scheduler, circulant_scheduler>(plan, shape, link);
    }
    void add_scatter(plan_writer& plan, call_shape const& shape, link_model const& link) const {
        add_ranked<reversed_scheduler<circulant_all_gather_scheduler>,
                   reversed_scheduler<circulant_scheduler>>(plan, shape, link);
    }
    void add_all_reduce(plan_writer& plan, call_shape const& shape, link_model const& link) const {
        switch (detail::choose_circulant_all_reduce(shape, link)) {
        case detail::all_reduce_way::butterfly:
            return write_butterfly(plan.builder(), butterfly(shape.ranks, shape.rank), shape.rank,
                                   shape.count);
        case detail::all_reduce_way::census:
            return write_census(plan.builder(), circulant_census(shape.ranks, shape.rank), shape.count);
        case detail::all_reduce_way::gather_combine:
            return add_gather_combine(plan, shape, link);
        case detail::all_reduce_way::scatter_gather:
            break;
        }
        add_scatter(plan, shape, link);
        add_gather(plan, shape, link);
    }
    /// All ranks' whole vectors one behind the other.
    static void add_gather_combine(plan_writer& plan, call_shape shape, link_model const& link) {
        auto const n = shape.count;
        region const own(memory::in, 0, n);
        shape.count *= static_cast<std::size_t>(shape.ranks);
        auto const layout = detail::layout_of_ranks(shape);
        auto& to = plan.builder();
        auto const all = to.scratch(shape.count);
        block_places places{std::vector<region>(layout.ranges.size()), {}, layout.owned_by(shape)};
        for (auto const& r : layout.ranges) places.result.push_back(all.part(r.offset, r.size));
        auto const mine = static_cast<std::size_t>(shape.rank);
        to.copy(places.result[mine], own);
        places.held[mine] = own;
        to.use(detail::windows_of_dependent_rounds(shape.bytes() / 2, shape, link));
        lower(to, schedule_kind::dissemination, plan.share_of(circulant_all_gather_scheduler{}, layout),
              shape.rank, places);
        write_ordered_combination(to, all, n);
    }
};

} // namespace papcoll::inline v0
