// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/circulant_choice.hpp>
#include <papcoll/policy/policy.hpp>
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
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> execution_plan {
        using detail::plan_of;
        switch (shape.operation) {
        case collective_kind::broadcast:
            return plan_of(rooted(circulant_scheduler{}, shape, link));
        case collective_kind::reduce:
            return plan_of(rooted(reversed(circulant_scheduler{}), shape, link));
        case collective_kind::all_gather:
            return plan_of(ranked<circulant_all_gather_scheduler, circulant_scheduler>(shape, link));
        case collective_kind::reduce_scatter:
            return plan_of(scatter(shape, link));
        default:
            break;
        }
        switch (detail::choose_circulant_all_reduce(shape, link)) {
        case detail::all_reduce_way::butterfly:
            return plan_of(execution_stage{.what = execution_stage::work::butterfly,
                                           .butterfly = butterfly(shape.ranks, shape.rank)});
        case detail::all_reduce_way::gather_combine:
            return plan_of(gather_combine(shape, link));
        case detail::all_reduce_way::census:
            return plan_of(execution_stage{
                execution_stage::work::census, {}, circulant_census(shape.ranks, shape.rank)});
        case detail::all_reduce_way::scatter_gather:
            break;
        }
        return plan_of(scatter(shape, link),
                       ranked<circulant_all_gather_scheduler, circulant_scheduler>(shape, link));
    }

    friend auto operator==(circulant const&, circulant const&) -> bool = default;

private:
    template <scheduler S>
    [[nodiscard]] auto rooted(S const& algorithm, call_shape const& shape, link_model const& link) const
        -> execution_stage {
        auto layout = detail::layout_of_root(shape, blocks(shape, link));
        auto const windows = detail::windows_for(layout.longest() * shape.element_bytes, shape, link);
        return detail::stage_of(detail::program_of(algorithm, shape, std::move(layout), windows));
    }
    /// Whole parts in the fewest rounds, or many blocks at once.
    template <scheduler Whole, scheduler Blocks>
    [[nodiscard]] auto ranked(call_shape const& shape, link_model const& link) const -> execution_stage {
        auto const cut = detail::choose_circulant_parts(shape, link, block_bytes);
        // Of n blocks one of each rank travels in a round, of whole parts half in the last round.
        auto const round = shape.bytes() / static_cast<std::size_t>(cut.blocks);
        if (cut.blocks > 1)
            return detail::stage_of(detail::program_of(Blocks{}, shape, detail::layout_of_ranks(shape, cut),
                                                       detail::windows_for(round, shape, link)));
        return detail::stage_of(detail::program_of_parts(
            Whole{}, shape, detail::windows_of_dependent_rounds(round / 2, shape, link)));
    }
    [[nodiscard]] auto scatter(call_shape const& shape, link_model const& link) const -> execution_stage {
        return ranked<reversed_scheduler<circulant_all_gather_scheduler>,
                      reversed_scheduler<circulant_scheduler>>(shape, link);
    }
    /// All ranks' whole vectors one behind the other.
    [[nodiscard]] static auto gather_combine(call_shape shape, link_model const& link) -> execution_stage {
        shape.count *= static_cast<std::size_t>(shape.ranks);
        auto program =
            detail::program_of(circulant_all_gather_scheduler{}, shape, detail::layout_of_ranks(shape),
                               detail::windows_of_dependent_rounds(shape.bytes() / 2, shape, link));
        return {execution_stage::work::gather_combine, std::move(program), {}};
    }
};

} // namespace papcoll::inline v0
