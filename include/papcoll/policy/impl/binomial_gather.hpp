// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/impl.hpp>
#include <papcoll/policy/binomial_gather.hpp>
#include <papcoll/policy/plan_writer.hpp>
#include <papcoll/program/block_program.hpp>
#include <papcoll/scheduler/binomial_gather.hpp>

#include <algorithm>
#include <cstddef>
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
        if (held[b] == shape.rank) {
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

} // namespace detail

PAPCOLL_IMPL auto binomial_gather::plan(call_shape const& shape, link_model const& link) const -> program {
    auto share = binomial_gather_share(shape.ranks, shape.root, shape.rank);
    auto const held = detail::number_held(share, shape.rank);
    plan_writer plan(shape);
    auto const places = detail::places_of_held(held, plan, shape);
    plan.builder().use(detail::windows_of_dependent_rounds(shape.bytes() / 2, shape, link));
    lower(plan.builder(), schedule_kind::dissemination, share, shape.rank, places);
    return plan.finish();
}

} // namespace papcoll::inline v0
