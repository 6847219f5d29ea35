// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>

#include <cstdint>
#include <random>
#include <vector>

namespace bench {

/// An instance as paper 1, section 5.7 draws them: P processes, N = P segments, one unit of time = 10^6
/// ticks.
struct instance {
    int ranks;
    int blocks;
    int root;
    papcoll::ticks round;
    std::vector<papcoll::ticks> arrivals;

    [[nodiscard]] auto problem() const -> papcoll::problem {
        return {.ranks = ranks, .root = root, .blocks = blocks, .arrivals = arrivals};
    }
};

enum class distribution { uniform, skewed };

inline auto name(distribution kind) -> char const* {
    return kind == distribution::uniform ? "uniform" : "skewed";
}

/// Uniform: arrivals from [0, P + 0.1], a random root. Skewed: all at 0 but the last rank, which arrives at
/// N; root 0. Round time from [0.001, 1] in both.
inline auto draw_instance(distribution kind, int size, unsigned seed) -> instance {
    constexpr auto unit = 1e6;
    std::mt19937_64 random(seed);
    auto const between = [&random](double low, double high) {
        // Not std::uniform_real_distribution: its values differ between standard libraries.
        auto const fraction = static_cast<double>(random() >> 11) * 0x1p-53;
        return papcoll::ticks{static_cast<std::int64_t>((low + (high - low) * fraction) * unit)};
    };
    instance drawn{.ranks = size, .blocks = size, .root = 0, .round = between(0.001, 1), .arrivals = {}};
    drawn.arrivals.assign(static_cast<std::size_t>(size), papcoll::ticks{0});
    if (kind == distribution::skewed) {
        drawn.arrivals.back() = papcoll::ticks{static_cast<std::int64_t>(size * unit)};
        return drawn;
    }
    drawn.root = static_cast<int>(random() % static_cast<unsigned>(size));
    for (auto& a : drawn.arrivals) a = between(0, size + 0.1);
    return drawn;
}

} // namespace bench
