// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/plan_writer.hpp>
#include <papcoll/policy/policy.hpp>
#include <papcoll/program/block_program.hpp>
#include <papcoll/program/whole_operands.hpp>
#include <papcoll/scheduler/scheduler_ref.hpp>

#include <cstddef>
#include <vector>

namespace papcoll::inline v0::detail {

/// An all-reduce in which every rank gathers the operands of all, one behind the other, and combines them in
/// the order of ranks.
inline void add_gather_combine(plan_writer& plan, call_shape shape, scheduler_ref all_gather,
                               message_windows const& windows) {
    auto const n = shape.count;
    region const own(memory::in, 0, n);
    shape.count *= static_cast<std::size_t>(shape.ranks);
    auto const layout = layout_of_ranks(shape);
    auto& to = plan.builder();
    auto const all = to.scratch(shape.count);
    block_places places{std::vector<region>(layout.ranges.size()), {}, layout.owned_by(shape)};
    for (auto const& r : layout.ranges) places.result.push_back(all.part(r.offset, r.size));
    auto const mine = static_cast<std::size_t>(shape.rank);
    to.copy(places.result[mine], own);
    places.held[mine] = own;
    to.use(windows);
    lower(to, schedule_kind::dissemination, plan.share_of(all_gather, layout), shape.rank, places);
    write_ordered_combination(to, all, n);
}

} // namespace papcoll::inline v0::detail
