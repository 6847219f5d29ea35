// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/scheduler.hpp>

#include <cstddef>
#include <span>

namespace papcoll::inline v0 {

/// Some of the ranks and some of the blocks, of which a part of a schedule is made. The spans are not owned.
struct sub_group {
    /// The ranks; what a scheduler is told are positions in this list.
    std::span<int const> members;
    /// The blocks, ascending; what a scheduler is told are positions in this list.
    std::span<int const> blocks;
    /// For each block the position of its owner; empty: `root` owns all.
    std::span<int const> owners = {};
    /// A position.
    int root = 0;
};

/// The share that a scheduler gives the rank at `position` of a group, in the ranks and blocks of the whole.
/// Without blocks it is empty. Blocks within a step keep their order.
template <scheduler S>
[[nodiscard]] auto on_subgroup(S const& algorithm, sub_group const& group, int position) -> rank_schedule {
    if (group.blocks.empty()) return {};
    problem const p{.ranks = static_cast<int>(group.members.size()),
                    .root = group.root,
                    .blocks = static_cast<int>(group.blocks.size()),
                    .arrivals = {},
                    .owners = group.owners};
    auto share = algorithm.for_rank(p, position);
    for (auto* list : {&share.sends, &share.receives})
        for (auto& t : *list) {
            t.peer = group.members[static_cast<std::size_t>(t.peer)];
            t.block = group.blocks[static_cast<std::size_t>(t.block)];
        }
    return share;
}

/// Appends a part to a share, its step s as first + stride·s.
inline void append_part(rank_schedule& share, rank_schedule const& part, step_type first,
                        step_type stride = 1) {
    for (auto const& t : part.sends) share.sends.push_back({first + stride * t.step, t.peer, t.block});
    for (auto const& t : part.receives) share.receives.push_back({first + stride * t.step, t.peer, t.block});
}

} // namespace papcoll::inline v0
