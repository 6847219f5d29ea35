// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/bitset/simd_bitset.hpp>
#include <papcoll/scheduler/bitset/word_bitset.hpp>
#include <papcoll/scheduler/clairvoyant.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace clairvoyant_cases {

using papcoll::ticks;

#define CLAIRVOYANT_SEARCHES                                                                                 \
    papcoll::linear_search, papcoll::segment_tree<papcoll::word_bitset>,                                     \
        papcoll::segment_tree<papcoll::simd_bitset<>>, papcoll::sliced_counters<papcoll::word_bitset>,       \
        papcoll::sliced_counters<papcoll::simd_bitset<>>

/// An instance that owns its arrivals.
struct instance {
    int ranks = 1;
    int blocks = 1;
    int root = 0;
    ticks round{1};
    std::vector<ticks> arrivals;

    [[nodiscard]] auto problem() const -> papcoll::problem {
        return {.ranks = ranks, .root = root, .blocks = blocks, .arrivals = arrivals};
    }
    [[nodiscard]] auto describe() const -> std::string {
        std::ostringstream text;
        text << "ranks " << ranks << " blocks " << blocks << " root " << root << " round " << round.count()
             << " arrivals";
        for (auto const a : arrivals) text << ' ' << a.count();
        return text.str();
    }
};

template <class Search>
auto schedule(instance const& i) -> std::vector<papcoll::transfer> {
    return papcoll::clairvoyant_scheduler<Search>{.round = i.round}.transfers(i.problem());
}

/// An oracle that shares nothing with the library: availability as plain numbers, sorted afresh in every
/// round, no idle round skipped, three states per cell, linear search.
inline auto oracle(instance const& i) -> std::vector<papcoll::transfer> {
    enum class state { held, sent, received };
    auto const size = [](int n) { return static_cast<std::size_t>(n); };
    auto const d = i.round.count();
    std::vector<std::vector<state>> cells(size(i.ranks), std::vector<state>(size(i.blocks), state::held));
    auto const holds = [&](int rank) {
        return std::count(cells[size(rank)].begin(), cells[size(rank)].end(), state::held) > 0;
    };
    std::vector<std::pair<std::int64_t, int>> available; // of whoever has not left: next time, rank
    for (int r = 0; r < i.ranks; ++r)
        available.emplace_back(i.arrivals.empty() ? 0 : i.arrivals[size(r)].count(), r);
    std::vector<papcoll::transfer> schedule;
    for (papcoll::step_type step = 0; available.size() > 1; ++step) {
        std::sort(available.begin(), available.end());
        auto const end = available.front().first + d;
        std::vector<int> group;
        for (auto& [time, rank] : available)
            if (time < end) {
                group.push_back(rank);
                time += d;
            }
        auto receivers = group;
        auto const root = std::find(receivers.begin(), receivers.end(), i.root);
        if (root != receivers.end()) std::rotate(receivers.begin(), root, root + 1);
        std::vector<bool> has_sent(size(i.ranks), false);
        for (int const to : receivers) {
            bool found = false;
            for (int block = 0; block < i.blocks && !found; ++block) {
                if (to != receivers.front() && cells[size(to)][size(block)] != state::held) continue;
                for (int const from : group) {
                    if (from == to || has_sent[size(from)] || cells[size(from)][size(block)] != state::held)
                        continue;
                    schedule.push_back({step, from, to, block});
                    cells[size(from)][size(block)] = state::sent;
                    cells[size(to)][size(block)] = state::received;
                    has_sent[size(from)] = found = true;
                    break;
                }
            }
        }
        for (auto& row : cells) std::replace(row.begin(), row.end(), state::received, state::held);
        std::erase_if(available, [&](auto const& a) { return a.second != i.root && !holds(a.second); });
    }
    return schedule;
}

inline auto random_instance(std::mt19937_64& random, int max_ranks, int max_blocks) -> instance {
    auto const draw = [&](std::int64_t from, std::int64_t to) {
        return from + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(to - from + 1));
    };
    instance i;
    i.ranks = static_cast<int>(draw(1, max_ranks));
    i.blocks = static_cast<int>(draw(1, max_blocks));
    i.root = static_cast<int>(draw(0, i.ranks - 1));
    i.round = ticks{draw(1, 50)};
    auto const span = draw(0, 3) * i.round.count() * draw(1, i.ranks + i.blocks);
    auto const origin = draw(-100000, 100000);
    auto const coarse = draw(0, 3) == 0 ? i.round.count() : 1; // equal fractions: ties by rank
    for (int r = 0; r < i.ranks; ++r) i.arrivals.push_back(ticks{origin + draw(0, span) / coarse * coarse});
    return i;
}

} // namespace clairvoyant_cases
