// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/is_power.hpp>
#include <papcoll/program/program.hpp>
#include <papcoll/program/program_builder.hpp>

#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

namespace papcoll::inline v0 {

/// Calls round(distances) for each round of a dissemination of radix k, in which a rank hears of the ranks at
/// the distances k^j, 2·k^j, …, (k − 1)·k^j below it: after ⌈log_k P⌉ rounds of all.
template <class Round>
void each_dissemination_round(int ranks, int radix, Round round) {
    std::vector<int> distances;
    for (long long unit = 1; unit < ranks; unit *= radix) {
        distances.clear();
        for (int i = 1; i < radix && i * unit < ranks; ++i) distances.push_back(static_cast<int>(i * unit));
        round(std::span<int const>(distances));
    }
}

/// Ranks hear of each other by empty messages: ⌈log_k P⌉ rounds of up to k − 1 messages (Hensgen, Finkel and
/// Manber, Two algorithms for barrier synchronization, 1988). Where P is a power of k those of a round go
/// both ways between the same ranks, whose numbers to base k differ in one digit: fewer connections, and
/// what acknowledges one message goes with the other. A rank sends those of a round when all of the rounds
/// before are in, and what it has `heard` before. `ranks`: those that take part; `me`: which of them this one
/// is; `radix`: k. Returns by what it has heard of all.
inline auto write_dissemination(program_builder& to, std::span<int const> ranks, int me, int radix,
                                std::vector<program::index> heard) -> std::vector<program::index> {
    std::vector<program::index> next;
    int const n = static_cast<int>(ranks.size());
    bool const in_groups = detail::is_power(n, radix);
    int messages = 1; // empty: all may be under way
    each_dissemination_round(n, radix,
                             [&](auto distances) { messages += static_cast<int>(distances.size()); });
    to.use({.receives = messages, .sends = messages, .admission = false, .together = true});
    each_dissemination_round(n, radix, [&](std::span<int const> distances) {
        next.clear();
        int const unit = distances.front();
        auto const rank = [&](int distance) {
            int const group = in_groups ? me / (unit * radix) * (unit * radix) : 0;
            int const size = in_groups ? unit * radix : n;
            int const there = group + (me - group + distance + size) % size;
            return ranks[static_cast<std::size_t>(there)];
        };
        for (int const d : distances) next.push_back(to.receive(rank(-d), std::span<region const>()));
        for (int const d : distances) {
            for (auto const earlier : heard) to.after(earlier);
            to.send(rank(d), std::span<region const>());
        }
        heard.insert(heard.end(), next.begin(), next.end());
    });
    return heard;
}

/// A barrier of all ranks by dissemination of this radix, as `rank`'s share.
inline void write_dissemination_barrier(program_builder& to, int ranks, int rank, int radix) {
    std::vector<int> all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 0);
    (void)write_dissemination(to, all, rank, radix, {});
}

} // namespace papcoll::inline v0
