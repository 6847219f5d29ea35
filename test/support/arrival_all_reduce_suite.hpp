// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/arrival_all_reduce.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "all_reduce_suite.hpp"

/// All-reduces by arrivals that may be right or wrong.
namespace arrival_all_reduce_suite {

using papcoll::ticks;

/// One rank late by far, whichever; in waves; random ones of all spreads; early and negative times.
[[nodiscard]] inline auto predictions(int ranks, unsigned seed) -> std::vector<std::vector<ticks>> {
    auto const p = static_cast<std::size_t>(ranks);
    std::vector<std::vector<ticks>> all;
    for (std::size_t const late : {std::size_t(0), p / 2, p - 1}) {
        all.emplace_back(p);
        all.back()[late] = std::chrono::seconds(1);
    }
    std::vector<ticks> waves(p);
    for (std::size_t r = 0; r < p; ++r) waves[r] = std::chrono::milliseconds(-100 * static_cast<int>(r / 3));
    all.push_back(waves);
    std::mt19937 random(seed);
    for (std::int64_t const most : {100'000, 10'000'000, 1'000'000'000}) {
        std::uniform_int_distribution<std::int64_t> times(-most, most);
        all.emplace_back(p);
        for (auto& time : all.back()) time = ticks(times(random));
    }
    return all;
}

/// What all_reduce promises, of T, with any prediction; none of them comes true.
template <class T, class Comm>
void promises(Comm& comm, int rank, int ranks, unsigned seed) {
    for (auto const& arrivals : predictions(ranks, seed))
        for (std::size_t const block_bytes : {40u, 4000u}) {
            papcoll::arrival_all_reduce const policy{.arrivals = arrivals, .block_bytes = block_bytes};
            all_reduce_suite::promises<T>(comm, rank, ranks, policy);
        }
    all_reduce_suite::promises<T>(comm, rank, ranks, papcoll::arrival_all_reduce{});
}

/// Each of these predictions in one call out of place and one in it.
template <class Comm>
void any_prediction(Comm& comm, int rank, int ranks, unsigned seed) {
    papcoll::attach(comm, papcoll::attach_options{.link = all_reduce_suite::slow_to_move});
    for (auto const& arrivals : predictions(ranks, seed)) {
        papcoll::arrival_all_reduce const policy{.arrivals = arrivals, .block_bytes = 64};
        for (std::size_t const n : {0u, 1u, 17u, 1000u})
            collective_suite::one_by_one(comm,
                                         std::vector<all_reduce_suite::one_call<double>>{
                                             {rank, ranks, n, false}, {rank, ranks, n, true}},
                                         policy);
    }
}

template <class Comm>
void same_bits(Comm& comm, int rank, int ranks, unsigned seed) {
    for (auto const& arrivals : predictions(ranks, seed))
        all_reduce_suite::same_bits(comm, rank, ranks,
                                    papcoll::arrival_all_reduce{.arrivals = arrivals, .block_bytes = 16});
}

template <class Comm>
void mistakes(Comm& comm, int rank, int ranks) {
    std::vector<int> in(10, rank), out(10);
    auto const call = [&](papcoll::arrival_all_reduce const& policy) {
        return [&, policy] { papcoll::all_reduce(comm, in, out, std::plus<>(), policy); };
    };
    auto const p = static_cast<std::size_t>(ranks);
    papcoll::attach(comm, papcoll::attach_options{.checks = papcoll::check_level::local});
    collective_suite::says("arrivals must have one entry per rank",
                           call({.arrivals = std::vector<ticks>(p + 1)}));
    collective_suite::says("block_bytes must be at least 1", call({.block_bytes = 0}));
    papcoll::attach(comm, papcoll::attach_options{.checks = papcoll::check_level::agreed});
    std::vector<ticks> mine(p);
    mine[0] = ticks(rank == ranks - 1 ? 1 : 0);
    if (ranks > 1) collective_suite::says("disagree on the policy", call({.arrivals = mine}));
    mine[0] = std::chrono::seconds(1);
    call({.arrivals = mine, .block_bytes = 8})();
    CHECK(out == std::vector<int>(10, ranks * (ranks - 1) / 2));
}

} // namespace arrival_all_reduce_suite
