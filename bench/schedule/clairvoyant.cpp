// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// How long one rank computes its share of a Clairvoyant schedule, over all searches and sizes; and the ratios
// of paper 1, Table 1, measured here, beside those published.
#include <papcoll/scheduler/clairvoyant.hpp>

#include <benchmark/benchmark.h>
#include <xsimd/xsimd.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "baselines.hpp"
#include "instances.hpp"
#include "schedule.hpp"

namespace bench {
namespace {

/// What every contestant does: generate the whole schedule and keep the share of rank 0.
struct share {
    papcoll::rank_schedule mine;
    std::size_t transfers = 0;

    void operator()(papcoll::transfer const& t) {
        ++transfers;
        if (t.from == 0) mine.sends.push_back({t.step, t.to, t.block});
        if (t.to == 0) mine.receives.push_back({t.step, t.from, t.block});
    }
};

template <class Search>
auto with_search(instance const& i) -> share {
    share result;
    papcoll::clairvoyant_scheduler<Search>{.round = i.round}.generate(i.problem(), result);
    return result;
}

template <class Cells, idle_rounds Idle>
auto with_baseline(instance const& i) -> share {
    share result;
    play<Cells>(i.problem(), i.round, Idle, result);
    return result;
}

struct contestant {
    char const* name;
    auto(*run)(instance const&) -> share;
    int largest; ///< sizes above take minutes
};

using wide = papcoll::simd_bitset<>;
#if defined(__AVX2__)
using avx2 = papcoll::simd_bitset<xsimd::avx2>;
#endif

constexpr std::array contestants {
    contestant{"linear, pseudocode", with_baseline<plain_cells, idle_rounds::played>, 512},
        contestant{"linear, idle rounds skipped", with_baseline<plain_cells, idle_rounds::skipped>, 512},
        contestant{"pairing heaps", with_baseline<heap_cells, idle_rounds::played>, 512},
        contestant{"pairing heaps, idle rounds skipped", with_baseline<heap_cells, idle_rounds::skipped>,
                   512},
        contestant{"linear_search", with_search<papcoll::linear_search>, 512},
        contestant{"segment_tree<word>", with_search<papcoll::segment_tree<papcoll::word_bitset>>, 1024},
        contestant{"segment_tree<widest>", with_search<papcoll::segment_tree<wide>>, 1024},
        contestant{"sliced_counters<word>", with_search<papcoll::sliced_counters<papcoll::word_bitset>>,
                   1024},
#if defined(__AVX2__)
        contestant{"segment_tree<avx2>", with_search<papcoll::segment_tree<avx2>>, 1024},
        contestant{"sliced_counters<avx2>", with_search<papcoll::sliced_counters<avx2>>, 1024},
#endif
        contestant{"sliced_counters<widest>", with_search<papcoll::sliced_counters<wide>>, 1024},
};

auto name(distribution kind) -> char const* { return kind == distribution::uniform ? "uniform" : "skewed"; }

auto draw(distribution kind, int size, int count) -> std::vector<instance> {
    std::vector<instance> instances;
    for (int seed = 0; seed < count; ++seed)
        instances.push_back(draw_instance(kind, size, static_cast<unsigned>(seed)));
    return instances;
}

/// Paper 1, Table 1: speed-up of its segment tree over linear search and over pairing heaps.
struct published {
    int size;
    double linear_uniform, heaps_uniform, linear_skewed, heaps_skewed;
};
constexpr std::array table_1{
    published{4, 0.49, 1.84, 0.45, 2.45},     published{8, 0.62, 3.07, 0.61, 5.68},
    published{16, 0.73, 3.53, 0.61, 5.34},    published{32, 0.97, 5.72, 0.67, 8.60},
    published{64, 1.26, 8.17, 0.64, 14.37},   published{128, 2.00, 12.46, 0.61, 21.04},
    published{256, 4.05, 15.58, 0.64, 22.77}, published{512, 19.33, 43.64, 1.36, 82.98},
};

/// The paper averages over 250 instances of every size; here fewer of the larger ones, to end within minutes.
auto instances_of(int size) -> int {
    return size <= 32 ? 250 : size <= 64 ? 60 : size <= 128 ? 12 : size <= 256 ? 4 : 2;
}

struct timing {
    double median = 0; ///< ns per transfer
    double low = 0;
    double high = 0;
};

/// Processor time per transfer over all instances. Passes: 5, or 1 when a pass takes longer than a second.
auto time_of(contestant const& c, std::vector<instance> const& instances) -> timing {
    std::vector<double> passes;
    while (passes.size() < 5) {
        std::size_t transfers = 0;
        auto const start = std::clock();
        for (auto const& i : instances) transfers += c.run(i).transfers;
        auto const seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
        passes.push_back(1e9 * seconds / static_cast<double>(transfers));
        if (seconds > 1) break;
    }
    std::sort(passes.begin(), passes.end());
    return {passes[passes.size() / 2], passes.front(), passes.back()};
}

void print_table(distribution kind) {
    std::printf("\n%s: processor time per transfer in ns, median of 5 passes [min, max]; one pass where it "
                "takes more than 1 s\n\n",
                name(kind));
    std::printf(
        "| P = N | instances | search | ns per transfer | min | max | ÷ segment_tree<widest> | published | ÷ "
        "best sliced_counters |\n|---|---|---|---|---|---|---|---|---|\n");
    for (int size = 4; size <= 1024; size *= 2) {
        auto const instances = draw(kind, size, instances_of(size));
        std::vector<timing> times;
        double tree = 0;
        double sliced = 1e300;
        for (auto const& c : contestants) {
            times.push_back(size <= c.largest ? time_of(c, instances) : timing{});
            std::string const search = c.name;
            if (search == "segment_tree<widest>") tree = times.back().median;
            if (search.starts_with("sliced")) sliced = std::min(sliced, times.back().median);
        }
        auto const row =
            std::find_if(table_1.begin(), table_1.end(), [&](auto const& r) { return r.size == size; });
        for (std::size_t i = 0; i < times.size(); ++i) {
            if (times[i].median == 0) continue;
            std::string const search = contestants[i].name;
            std::string paper;
            if (row != table_1.end() && (search == "linear, pseudocode" || search == "pairing heaps")) {
                bool const uniform = kind == distribution::uniform;
                auto const value = search == "pairing heaps"
                                       ? (uniform ? row->heaps_uniform : row->heaps_skewed)
                                       : (uniform ? row->linear_uniform : row->linear_skewed);
                paper = std::to_string(value).substr(0, 5);
            }
            std::printf("| %d | %zu | %s | %.1f | %.1f | %.1f | %.2f | %s | %.2f |\n", size, instances.size(),
                        search.c_str(), times[i].median, times[i].low, times[i].high, times[i].median / tree,
                        paper.c_str(), times[i].median / sliced);
            std::fflush(stdout);
        }
    }
}

} // namespace

void register_clairvoyant() {
    for (auto const kind : {distribution::uniform, distribution::skewed})
        for (auto const& c : contestants)
            for (int size = 4; size <= c.largest; size *= 2) {
                auto const title = std::string(name(kind)) + "/" + c.name + "/" + std::to_string(size);
                benchmark::RegisterBenchmark(
                    title.c_str(), [kind, size, run = c.run](benchmark::State& state) {
                        auto const instances = draw(kind, size, 8);
                        std::size_t next = 0;
                        std::size_t transfers = 0;
                        for (auto _ : state) transfers += run(instances[next++ % instances.size()]).transfers;
                        state.SetItemsProcessed(static_cast<std::int64_t>(transfers));
                        state.counters["per_transfer"] =
                            benchmark::Counter(static_cast<double>(transfers),
                                               benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
                    });
            }
}

void print_clairvoyant_table() {
    std::printf("lanes of %zu bits; seeds 0, 1, and so on; 1 unit of time of the paper is 10^6 ticks\n",
                papcoll::lane_bits<wide>);
    print_table(distribution::uniform);
    print_table(distribution::skewed);
}

} // namespace bench
