// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/impl.hpp>
#include <papcoll/policy/knomial_tree.hpp>
#include <papcoll/policy/members.hpp>
#include <papcoll/policy/plan_writer.hpp>
#include <papcoll/policy/radix_choice.hpp>
#include <papcoll/policy/tree/tree_plan.hpp>
#include <papcoll/program/block_program.hpp>
#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/scheduler/knomial_gather.hpp>
#include <papcoll/scheduler/knomial_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The ranks whose parts this rank has or gets; the blocks of the share become positions in this list.
[[nodiscard]] inline auto number_held(rank_schedule& share, int rank) -> std::vector<int> {
    std::vector<int> held{rank};
    held.reserve(share.receives.size() + 1);
    for (auto const& t : share.receives) held.push_back(t.block);
    std::sort(held.begin(), held.end());
    for (auto* list : {&share.sends, &share.receives})
        for (auto& t : *list)
            t.block = static_cast<int>(std::lower_bound(held.begin(), held.end(), t.block) - held.begin());
    return held;
}
/// Receives become sends and the last step the first.
inline void turn_round(rank_schedule& share, int ranks) {
    std::swap(share.sends, share.receives);
    for (auto* list : {&share.sends, &share.receives}) {
        for (auto& t : *list) t.step = ranks - t.step; // steps are fewer than ranks
        std::sort(list->begin(), list->end());
    }
}
/// At the root where the user wants them. Elsewhere those of others lie one behind the other in scratch
/// memory.
[[nodiscard]] inline auto places_of_held(std::vector<int> const& held, plan_writer& plan,
                                         call_shape const& shape) -> block_places {
    auto const parts = rank_ranges(shape);
    std::size_t others = 0;
    for (int const rank : held)
        others +=
            rank != shape.rank && shape.rank != shape.root ? parts[static_cast<std::size_t>(rank)].size : 0;
    auto const scratch = plan.builder().scratch(others);
    block_places places{std::vector<region>(held.size()), std::vector<region>(held.size()),
                        std::vector<bool>(held.size())};
    std::size_t next = 0;
    for (std::size_t b = 0; b < held.size(); ++b) {
        auto const& part = parts[static_cast<std::size_t>(held[b])];
        bool const scatters = shape.operation == collective_kind::scatter;
        if (scatters && shape.rank == shape.root) {
            places.owned[b] = true;
            places.held[b] = {memory::in, part.offset, part.size};
        } else if (scatters && held[b] == shape.rank) {
            places.result[b] = plan.own_part();
        } else if (held[b] == shape.rank) {
            places.owned[b] = true;
            places.held[b] = plan.own_part();
        } else if (shape.rank == shape.root) {
            places.result[b] = {memory::out, part.offset, part.size};
        } else {
            places.result[b] = scratch.part(next, part.size);
            next += part.size;
        }
    }
    return places;
}

/// The way of a gather through the tree, or the same from its end to its beginning.
[[nodiscard]] inline auto knomial_parts_plan(call_shape const& shape, link_model const& link, int radix)
    -> program {
    auto share = knomial_gather_share(shape.ranks, shape.root, shape.rank, radix);
    auto const held = number_held(share, shape.rank);
    if (shape.operation == collective_kind::scatter) turn_round(share, shape.ranks);
    plan_writer plan(shape);
    auto const places = places_of_held(held, plan, shape);
    plan.builder().use(windows_of_dependent_rounds(shape.bytes() / 2, shape, link));
    lower(plan.builder(), schedule_kind::dissemination, share, shape.rank, places);
    return plan.finish();
}

} // namespace detail

PAPCOLL_IMPL void knomial_tree::check(call_shape const& shape) const {
    if (radix) detail::require(*radix >= 2, "radix must be at least 2", *radix);
    detail::check_segments(segments);
    detail::require_equal_parts(shape, "knomial_tree");
}
PAPCOLL_IMPL auto knomial_tree::plan(call_shape const& shape, link_model const& link) const -> program {
    int const k = radix ? *radix : detail::choose_knomial(shape, link).radix;
    if (!detail::trees_provide(shape.operation)) return detail::knomial_parts_plan(shape, link, k);
    auto const make = [k](problem const& p, detail::tree_costs const&) {
        return knomial_tree_scheduler(k).placed(p);
    };
    return detail::tree_planner(shape, link, {{}, {}, 0}, segments, make).plan();
}

} // namespace papcoll::inline v0
