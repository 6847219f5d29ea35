// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/whole_parts.hpp>
#include <papcoll/scheduler/circulant.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// Where the ranks' parts lie at the root. Another rank of a gather has its own part alone.
[[nodiscard]] inline auto gather_parts(call_shape const& shape) -> std::vector<block_range> {
    auto parts = rank_ranges(shape);
    if (shape.operation == collective_kind::gather && shape.rank != shape.root)
        parts[static_cast<std::size_t>(shape.rank)].offset = 0;
    return parts;
}
/// Every rank sends its part to the root, at once.
[[nodiscard]] inline auto linear_gather(call_shape const& shape) -> execution_stage {
    rank_schedule share;
    for (int rank = 0; rank < shape.ranks; ++rank) {
        if (rank == shape.root) continue;
        if (shape.rank == shape.root) share.receives.push_back({0, rank, rank});
        if (shape.rank == rank) share.sends.push_back({0, shape.root, rank});
    }
    block_layout layout{gather_parts(shape), {}};
    for (int rank = 0; rank < shape.ranks; ++rank) layout.owners.push_back(rank);
    message_windows const all{.receives = std::max(shape.ranks - 1, 1),
                              .sends = 1,
                              .admission = false,
                              .tail_bytes = 0,
                              .longest_elements = 0};
    return stage_of(program_of(schedule_kind::dissemination, share, shape, std::move(layout), all));
}
/// The root, which has all parts, broadcasts them by circulant_scheduler; nobody gets its own part back.
[[nodiscard]] inline auto broadcast_of_parts(call_shape const& shape, link_model const& link)
    -> execution_stage {
    call_shape whole = shape;
    whole.operation = collective_kind::broadcast;
    int const wanted = choose_circulant_blocks(whole, link, std::nullopt);
    auto layout = layout_of_ranks(shape, std::max(wanted / shape.ranks, 1));
    problem const p{
        .ranks = shape.ranks, .root = shape.root, .blocks = static_cast<int>(layout.ranges.size())};
    auto share = circulant_scheduler{}.for_rank(p, shape.rank);
    auto const owner = [&](int block) { return layout.owners[static_cast<std::size_t>(block)]; };
    std::erase_if(share.sends, [&](auto const& t) { return owner(t.block) == t.peer; });
    std::erase_if(share.receives, [&](auto const& t) { return owner(t.block) == shape.rank; });
    auto owned = layout.owned_by(shape);
    if (shape.rank == shape.root) owned.assign(owned.size(), true);
    auto const windows = windows_for(layout.longest() * shape.element_bytes, shape, link);
    return stage_of(
        compile(schedule_kind::dissemination, share, std::move(layout.ranges), std::move(owned), windows));
}

} // namespace detail

/// The plain gather, in which every rank sends its part to the root at once, and the all-gather that
/// broadcasts the result (gather to rank 0, then circulant broadcast): twice the volume of a ring at the
/// root. Arrivals do not enter, yet no rank waits for a later one in the gather.
struct linear {
    static constexpr bool reorders_operands = true;
    static constexpr auto provides(collective_kind operation) -> bool {
        return operation == collective_kind::gather || operation == collective_kind::all_gather;
    }

    [[nodiscard]] auto name() const -> std::string_view { return "linear"; }
    void check(call_shape const&) const {}
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return std::vector<std::int64_t>{};
    }
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> execution_plan {
        auto plan = detail::plan_of(detail::linear_gather(shape));
        if (shape.operation == collective_kind::all_gather)
            plan.stages.push_back(detail::broadcast_of_parts(shape, link));
        return plan;
    }

    friend auto operator==(linear const&, linear const&) -> bool = default;
};

} // namespace papcoll::inline v0
