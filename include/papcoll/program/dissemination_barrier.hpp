// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/program/program.hpp>
#include <papcoll/program/program_builder.hpp>

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

/// A barrier of empty messages: ⌈log_k P⌉ rounds of up to k − 1 messages (Hensgen, Finkel and Manber, Two
/// algorithms for barrier synchronization, 1988). A rank sends those of a round when all of the rounds
/// before are in.
inline void write_dissemination_barrier(program_builder& to, int ranks, int rank, int radix) {
    std::vector<program::index> heard, next;
    to.use({.receives = radix, .sends = radix, .admission = false});
    each_dissemination_round(ranks, radix, [&](std::span<int const> distances) {
        next.clear();
        for (int const d : distances)
            next.push_back(to.receive((rank - d + ranks) % ranks, std::span<region const>()));
        for (int const d : distances) {
            for (auto const earlier : heard) to.after(earlier);
            to.send((rank + d) % ranks, std::span<region const>());
        }
        heard.insert(heard.end(), next.begin(), next.end());
    });
}

} // namespace papcoll::inline v0
