// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// How long a rank computes its circulant schedule. Without arguments: Google Benchmark. With --worst [p ...]:
// for every rank of p (a sample of large ones) the least of many single calls, and of those the mean and the
// largest.
#include <papcoll/scheduler/circulant.hpp>
#include <papcoll/scheduler/circulant/table.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>

#include "schedule.hpp"

namespace bench {
namespace {

using papcoll::circulant_skips;

constexpr int sample = 4096;

/// All ranks, or a random sample of many, in random order: neighbours would let the processor guess branches.
auto shuffled_ranks(int p) -> std::vector<int> {
    std::mt19937 random(1);
    std::vector<int> ranks(static_cast<std::size_t>(std::min(p, sample)));
    std::iota(ranks.begin(), ranks.end(), 0);
    if (p > sample)
        for (int& rank : ranks) rank = std::uniform_int_distribution<int>(0, p - 1)(random);
    std::shuffle(ranks.begin(), ranks.end(), random);
    return ranks;
}

void receive(circulant_skips const& skips, int rank) {
    benchmark::DoNotOptimize(receive_blocks(skips, rank));
}
void send(circulant_skips const& skips, int rank) { benchmark::DoNotOptimize(send_blocks(skips, rank)); }
/// Paper 3, Algorithm 5, but with the search of this library: one for every entry.
void send_by_searches(circulant_skips const& skips, int rank) {
    papcoll::circulant_blocks blocks;
    for (int k = 0; k < skips.rounds(); ++k)
        blocks.set(k, papcoll::detail::receive_search(skips, skips.target(rank, k), k).block(k));
    benchmark::DoNotOptimize(blocks);
}
void both(circulant_skips const& skips, int rank) {
    receive(skips, rank);
    send(skips, rank);
}
/// As a broadcast does it: skips included.
void from_scratch(circulant_skips const& skips, int rank) { both(circulant_skips(skips.ranks()), rank); }

template <void (*Compute)(circulant_skips const&, int)>
void one_rank(benchmark::State& state) {
    int const p = static_cast<int>(state.range(0));
    circulant_skips const skips(p);
    auto const ranks = shuffled_ranks(p);
    std::size_t i = 0;
    for (auto _ : state) {
        Compute(skips, ranks[i]);
        i = i + 1 == ranks.size() ? 0 : i + 1;
    }
}

void all_ranks(benchmark::State& state) {
    circulant_skips const skips(static_cast<int>(state.range(0)));
    for (auto _ : state) benchmark::DoNotOptimize(papcoll::circulant_table(skips));
}

void broadcast_share(benchmark::State& state) {
    int const p = static_cast<int>(state.range(0));
    auto const ranks = shuffled_ranks(p);
    papcoll::problem const given{.ranks = p, .root = 0, .blocks = static_cast<int>(state.range(1))};
    std::size_t i = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(papcoll::circulant_scheduler{}.for_rank(given, ranks[i]));
        i = i + 1 == ranks.size() ? 0 : i + 1;
    }
}

using clock_type = std::chrono::steady_clock;

template <class F>
auto nanoseconds(F const& f) -> double {
    auto const start = clock_type::now();
    f();
    return std::chrono::duration<double, std::nano>(clock_type::now() - start).count();
}

/// Passes over all ranks in an order that changes from pass to pass, so no branch is learnt for a rank.
void worst_rank(int p) {
    circulant_skips const skips(p);
    auto ranks = shuffled_ranks(p);
    std::vector<std::size_t> order(ranks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<double> least(ranks.size(), 1e9);
    double empty = 1e9;
    std::mt19937 random(2);
    for (int pass = 0; pass < 50; ++pass) {
        std::shuffle(order.begin(), order.end(), random);
        for (auto const i : order) {
            empty = std::min(empty, nanoseconds([] { benchmark::ClobberMemory(); }));
            least[i] = std::min(least[i], nanoseconds([&] { both(skips, ranks[i]); }));
        }
    }
    auto const worst = std::max_element(least.begin(), least.end());
    double const mean = std::accumulate(least.begin(), least.end(), 0.0) / static_cast<double>(least.size());
    std::printf("| %d | %zu | %.0f | %.0f | %d |\n", p, ranks.size(), mean - empty, *worst - empty,
                ranks[static_cast<std::size_t>(worst - least.begin())]);
}

void sizes_of_one_rank(benchmark::internal::Benchmark* b) {
    for (int const p :
         {13, 36, 576, 1025, 1152, 65536, 1 << 24, (1 << 24) - 1, (1 << 24) + 1, 11184811, 2147483647})
        b->Arg(p);
}

} // namespace

BENCHMARK(one_rank<receive>)->Apply(sizes_of_one_rank);
BENCHMARK(one_rank<send>)->Apply(sizes_of_one_rank);
BENCHMARK(one_rank<send_by_searches>)->Apply(sizes_of_one_rank);
BENCHMARK(one_rank<both>)->Apply(sizes_of_one_rank);
BENCHMARK(one_rank<from_scratch>)->Apply(sizes_of_one_rank);
BENCHMARK(all_ranks)->Arg(36)->Arg(576)->Arg(1152)->Arg(65536)->Unit(benchmark::kMicrosecond);
BENCHMARK(broadcast_share)
    ->Args({8, 1})
    ->Args({8, 64})
    ->Args({1152, 1})
    ->Args({1152, 64})
    ->Args({1152, 1024});

void print_worst_ranks(std::vector<int> const& sizes) {
    std::printf("| p | ranks | mean ns | worst ns | worst rank |\n|---|---|---|---|---|\n");
    for (int const p : sizes) worst_rank(p);
}

} // namespace bench
