// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/all_reduce.hpp>
#include <papcoll/collective/reduce.hpp>
#include <papcoll/monitor/arrival_monitor.hpp>
#include <papcoll/policy/automatic.hpp>
#include <papcoll/policy/circulant.hpp>
#include <papcoll/policy/clairvoyant.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "wrong_clock.hpp"

/// What must hold for a monitor over any transport, whoever has a thread.
namespace monitor_suite {

using papcoll::ticks;

/// What one rank got in each take; empty where nothing was given.
using takes = std::vector<std::vector<ticks>>;

inline void add(takes& all, papcoll::arrival_source const& got) {
    all.emplace_back(got.times().begin(), got.times().end());
}

/// A computation with reports as no program should make them, or without any.
template <class Monitor>
void compute_oddly(Monitor& monitor, std::mt19937_64& random) {
    auto const chance = [&](unsigned percent) { return random() % 100 < percent; };
    auto const pause = [&] { std::this_thread::sleep_for(std::chrono::microseconds(random() % 800)); };
    double const fractions[] = {0.5,
                                0.1,
                                0.9,
                                1.0,
                                0.0,
                                -3.0,
                                7.0,
                                std::numeric_limits<double>::quiet_NaN(),
                                std::numeric_limits<double>::infinity()};
    if (chance(10)) monitor.progress(0.4);
    if (chance(10)) monitor.computation_end();
    if (chance(70)) monitor.computation_begin();
    if (chance(10)) monitor.computation_begin();
    for (auto reports = random() % 4; reports > 0; --reports) {
        pause();
        monitor.progress(fractions[random() % std::size(fractions)]);
    }
    pause();
    if (chance(60)) monitor.computation_end();
    if (chance(10)) monitor.progress(0.7);
}

/// `epochs` iterations of odd reports and one to three collectives; returns what was taken.
template <class Comm, class Monitor>
auto run_oddly(Comm&& comm, Monitor& monitor, int rank, int ranks, int epochs, std::uint64_t seed) -> takes {
    std::mt19937_64 random(seed + static_cast<std::uint64_t>(rank)), common(seed);
    takes all;
    for (int epoch = 0; epoch < epochs; ++epoch) {
        compute_oddly(monitor, random);
        for (auto collectives = 1 + common() % 3; collectives > 0; --collectives) {
            papcoll::arrival_source const arrivals = monitor;
            add(all, arrivals);
            int const root = static_cast<int>(common() % static_cast<unsigned>(ranks));
            std::vector<std::int64_t> const in(50, rank + epoch);
            std::vector<std::int64_t> out(50);
            if (collectives % 2 == 1)
                papcoll::reduce(comm, in.data(), in.size(), out.data(), std::plus<>{}, root,
                                papcoll::clairvoyant{.arrivals = arrivals, .segments = 3});
            else
                papcoll::reduce(comm, in.data(), in.size(), out.data(), std::plus<>{}, root,
                                papcoll::automatic{.arrivals = arrivals});
            auto const sum = std::int64_t{ranks} * (ranks - 1) / 2 + std::int64_t{ranks} * epoch;
            if (rank == root) CHECK(out == std::vector<std::int64_t>(50, sum));
        }
    }
    return all;
}

/// Ordinary iterations: each has one prediction, used by its first collective alone.
template <class Comm, class Monitor>
auto run_orderly(Comm&& comm, Monitor& monitor, int rank, int ranks, int epochs) -> takes {
    std::mt19937_64 random(static_cast<std::uint64_t>(rank));
    takes all;
    for (int epoch = 0; epoch < epochs; ++epoch) {
        monitor.computation_begin();
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 1500));
        monitor.progress(0.5);
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 1500));
        monitor.computation_end();
        for (int collective = 0; collective < 2; ++collective) {
            papcoll::arrival_source const arrivals = monitor;
            CHECK(arrivals.given() == (collective == 0));
            if (arrivals.given()) CHECK(arrivals.times().size() == static_cast<std::size_t>(ranks));
            add(all, arrivals);
            std::int64_t sum = 0;
            papcoll::all_reduce(comm, std::int64_t{rank}, sum, std::plus<>{}, papcoll::circulant{});
            CHECK(sum == std::int64_t{ranks} * (ranks - 1) / 2);
        }
    }
    return all;
}

/// Everything that was taken, as one number.
inline auto digest(takes const& all) -> std::int64_t {
    std::uint64_t sum = all.size();
    for (auto const& take : all) {
        sum = sum * 31 + take.size();
        for (auto const time : take) sum = sum * 31 + static_cast<std::uint64_t>(time.count());
    }
    return static_cast<std::int64_t>(sum >> 1U);
}

} // namespace monitor_suite
