// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/scheduler/scheduler.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

/// A valid reduction schedule drawn from a seed: one-ported, with detours (blocks given away and received
/// again), messages of several blocks and gaps between the steps.
struct random_reduction {
    static constexpr auto kind = papcoll::schedule_kind::reduction;
    std::uint64_t seed = 1;

    [[nodiscard]] auto transfers(papcoll::problem const& p) const -> std::vector<papcoll::transfer> {
        std::mt19937_64 random(seed);
        auto const below = [&](int n) { return static_cast<int>(random() % static_cast<std::uint64_t>(n)); };
        // holds[r][b]: rank r has something of block b
        std::vector<std::vector<bool>> holds(static_cast<std::size_t>(p.ranks),
                                             std::vector<bool>(static_cast<std::size_t>(p.blocks), true));
        std::vector<papcoll::transfer> result;
        papcoll::step_type step = 0;
        for (bool open = true; open; step += 1 + below(3)) {
            std::vector<int> receivers(static_cast<std::size_t>(p.ranks));
            for (int r = 0; r < p.ranks; ++r) receivers[static_cast<std::size_t>(r)] = r;
            std::shuffle(receivers.begin(), receivers.end(), random);
            auto now = holds;
            auto after = holds;
            std::vector<std::vector<bool>> touched(
                static_cast<std::size_t>(p.ranks),
                std::vector<bool>(static_cast<std::size_t>(p.blocks), false));
            bool const detour = below(4) == 0 && step < 50;
            for (int from = 0; from < p.ranks; ++from) {
                int const to = receivers[static_cast<std::size_t>(from)];
                if (from == to) continue;
                auto const f = static_cast<std::size_t>(from);
                auto const t = static_cast<std::size_t>(to);
                int moved = 0;
                for (int b = 0; b < p.blocks && moved < 3; ++b) {
                    auto const i = static_cast<std::size_t>(b);
                    bool const wanted = now[t][i] || to == p.owner(b) || detour;
                    if (!now[f][i] || !wanted || touched[f][i] || touched[t][i]) continue;
                    if (from == p.owner(b) && !detour) continue;
                    if (below(3) == 0) continue;
                    result.push_back({step, from, to, b});
                    touched[f][i] = touched[t][i] = true;
                    after[f][i] = false;
                    after[t][i] = true;
                    ++moved;
                }
            }
            holds = after;
            open = false;
            for (int r = 0; r < p.ranks; ++r)
                for (int b = 0; b < p.blocks; ++b)
                    open = open || (r != p.owner(b) &&
                                    holds[static_cast<std::size_t>(r)][static_cast<std::size_t>(b)]);
        }
        return result;
    }
    [[nodiscard]] auto for_rank(papcoll::problem const& p, int rank) const -> papcoll::rank_schedule {
        papcoll::rank_schedule share;
        for (auto const& t : transfers(p)) {
            if (t.from == rank) share.sends.push_back({t.step, t.to, t.block});
            if (t.to == rank) share.receives.push_back({t.step, t.from, t.block});
        }
        return share;
    }
};
