// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/order_sign.hpp>
#include <papcoll/scheduler/tree/reduction_tree.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// One rank's share in a tree of one block of which at most `limit` transfers are under way at any instant,
/// whenever ranks arrive: each waits for a sign of the one `limit` places before it in the order of the timed
/// tree, as paper 2's Algorithm 2 times them. Up the tree, or down with time turned round. All waiting is for
/// earlier transfers, so it ends.
inline auto limited_share(rank_tree const& placed, bool up, int limit, int rank) -> ordered_schedule {
    auto const last = static_cast<step_type>(placed.rank.size()) - 1; // of the steps, and one more
    // The ends of a transfer: who sends, who receives.
    auto const ends = [&](step_type step) {
        auto const i = static_cast<std::size_t>(up ? last - step : step + 1);
        std::pair<int, int> const to_parent{placed.rank[i],
                                            placed.rank[static_cast<std::size_t>(placed.tree.parent[i])]};
        return up ? to_parent : std::pair(to_parent.second, to_parent.first);
    };
    ordered_schedule result;
    for (step_type step = 0; step < last; ++step) {
        auto const [from, to] = ends(step);
        if (from == rank) {
            if (step >= limit) result.signs.push_back({step, ends(step - limit).second, false});
            result.share.sends.push_back({step, to, 0});
        }
        if (to == rank) {
            result.share.receives.push_back({step, from, 0});
            if (step + limit < last) result.signs.push_back({step, ends(step + limit).first, true});
        }
    }
    return result;
}

} // namespace papcoll::inline v0::detail
