// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/transfer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

/// When ranks leave an all-reduce of these transfers, both halves together: one-ported and full duplex,
/// messages (equal step, from and to) in step order at both ends. A message takes latency + its blocks ·
/// per_block and begins when both ends have arrived and are free and the sender has what it got of its blocks
/// in smaller steps. Combining costs nothing. O(T log T + P N).
inline auto all_reduce_exits(std::vector<papcoll::transfer> schedule, papcoll::problem const& p,
                             papcoll::ticks latency, papcoll::ticks per_block)
    -> std::vector<papcoll::ticks> {
    using papcoll::ticks;
    std::sort(schedule.begin(), schedule.end());
    auto const index = [](int i) { return static_cast<std::size_t>(i); };
    auto const blocks = index(p.blocks);
    std::vector<ticks> exits, has;
    for (int rank = 0; rank < p.ranks; ++rank) {
        exits.push_back(p.arrival(rank));
        has.insert(has.end(), blocks, p.arrival(rank));
    }
    auto sender_free = exits;
    auto receiver_free = exits;
    for (std::size_t first = 0; first < schedule.size();) {
        auto const m = schedule[first];
        auto begin = std::max(sender_free[index(m.from)], receiver_free[index(m.to)]);
        auto last = first;
        for (; last < schedule.size() && schedule[last].step == m.step && schedule[last].from == m.from &&
               schedule[last].to == m.to;
             ++last)
            begin = std::max(begin, has[index(m.from) * blocks + index(schedule[last].block)]);
        auto const end = begin + latency + per_block * static_cast<std::int64_t>(last - first);
        for (; first < last; ++first) {
            auto& at = has[index(m.to) * blocks + index(schedule[first].block)];
            at = std::max(at, end);
        }
        sender_free[index(m.from)] = receiver_free[index(m.to)] = end;
        for (int const rank : {m.from, m.to}) exits[index(rank)] = std::max(exits[index(rank)], end);
    }
    return exits;
}
