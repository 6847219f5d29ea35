// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/program/program.hpp>

#include <algorithm>
#include <vector>

namespace papcoll::inline v0::detail {

/// The instructions of a program in an order in which nothing waits for a message that could be done before.
/// Receives, and sends, stay in the order of the program. Shorter than the program where it is wrong.
[[nodiscard]] inline auto order_of_one_go(program const& p) -> std::vector<program::index> {
    using index = program::index;
    using action = program::action;
    std::vector<index> order;
    std::vector<bool> done(p.size());
    auto const may_begin = [&](index i) {
        auto const waits = p.waits_of(i);
        return std::all_of(waits.begin(), waits.end(), [&](index w) { return done[w]; });
    };
    auto const take_next = [&](bool receives) {
        bool send_waits = false;
        for (index i = 0; i < p.size(); ++i) {
            auto const what = p.instructions[i].what;
            if (done[i] || (what == action::receive) != receives) continue;
            if (may_begin(i) && !(what == action::send && send_waits)) {
                done[i] = true;
                order.push_back(i);
                return true;
            }
            if (receives) return false;
            send_waits = send_waits || what == action::send;
        }
        return false;
    };
    while (take_next(false) || take_next(true)) {
    }
    return order;
}

} // namespace papcoll::inline v0::detail
