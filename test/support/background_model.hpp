// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/transfer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// When ranks leave a dissemination in which background threads take part for those that have not arrived.
///
/// One-ported and full duplex: a message (transfers of equal step, from and to) takes latency + its blocks ·
/// per_block, in which time its sender sends and its receiver receives nothing else. Every rank sends, and
/// receives, in step order. A message begins as soon as both ends are free and its sender has all its blocks;
/// a block that the sender owns it has from its arrival on. With `background` that is all; without it nothing
/// begins before both ends have arrived. A rank leaves when it has arrived and all its messages are over.
struct background_model {
    papcoll::ticks latency{0};
    papcoll::ticks per_block{0};
    bool background = true;

    /// `schedule` must satisfy verify_dissemination and be sorted. O(T + P N) time, P N times of memory.
    [[nodiscard]] auto exits(std::span<papcoll::transfer const> schedule, papcoll::problem const& p) const
        -> std::vector<papcoll::ticks> {
        using papcoll::ticks;
        auto const index = [](int i) { return static_cast<std::size_t>(i); };
        auto const ranks = index(p.ranks);
        auto const blocks = index(p.blocks);
        std::vector<ticks> has(ranks * blocks, ticks::max()), sender_free(ranks, ticks::min());
        std::vector<ticks> receiver_free(ranks, ticks::min()), exits;
        auto const held = [&](int rank, int block) -> ticks& {
            return has[index(rank) * blocks + index(block)];
        };
        for (int rank = 0; rank < p.ranks; ++rank) exits.push_back(p.arrival(rank));
        for (int block = 0; block < p.blocks; ++block)
            held(p.owner(block), block) = exits[index(p.owner(block))];
        auto const first_arrival = *std::min_element(exits.begin(), exits.end());
        for (std::size_t first = 0; first < schedule.size();) {
            auto const& m = schedule[first];
            auto last = first;
            auto begin = std::max({first_arrival, sender_free[index(m.from)], receiver_free[index(m.to)]});
            if (!background) begin = std::max({begin, p.arrival(m.from), p.arrival(m.to)});
            for (; last < schedule.size() && schedule[last].step == m.step && schedule[last].from == m.from &&
                   schedule[last].to == m.to;
                 ++last)
                begin = std::max(begin, held(m.from, schedule[last].block));
            auto const end = begin + latency + per_block * static_cast<std::int64_t>(last - first);
            for (; first < last; ++first) held(m.to, schedule[first].block) = end;
            for (int const rank : {m.from, m.to}) exits[index(rank)] = std::max(exits[index(rank)], end);
            sender_free[index(m.from)] = receiver_free[index(m.to)] = end;
        }
        return exits;
    }
};
