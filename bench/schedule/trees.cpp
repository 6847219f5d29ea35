// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// How long greedy trees take to compute: two queues against the heap that the pseudocode of paper 2 asks for.
// Results: results/trees.md
#include <papcoll/scheduler/arrival_tree.hpp>
#include <papcoll/scheduler/greedy_tree.hpp>

#include <benchmark/benchmark.h>
#include <boost/heap/d_ary_heap.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "schedule.hpp"

namespace bench {
namespace {

using papcoll::ticks;

struct available {
    ticks from_end;
    int machine;
    // heaps give the largest: the earliest
    friend auto operator<(available const& a, available const& b) -> bool { return b.from_end < a.from_end; }
};

class standard_heap : public std::priority_queue<available> {
public:
    explicit standard_heap(std::size_t machines) { c.reserve(machines); }
};
class four_ary_heap : public boost::heap::d_ary_heap<available, boost::heap::arity<4>> {
public:
    explicit four_ary_heap(std::size_t machines) { reserve(machines); }
};

/// Algorithm 1 with a heap of all machines.
template <class Heap>
auto heap_tree(int machines, ticks transfer_time, ticks compute_time) -> papcoll::reduction_tree {
    auto const n = static_cast<std::size_t>(machines);
    papcoll::reduction_tree tree;
    tree.parent.resize(n);
    tree.remaining.resize(n);
    Heap heap(n);
    heap.push({ticks{0}, 0});
    for (std::size_t i = 1; i < n; ++i) {
        auto const next = heap.top();
        heap.pop();
        tree.parent[i] = next.machine;
        tree.remaining[i] = next.from_end + transfer_time + compute_time;
        heap.push({next.from_end + std::max(transfer_time, compute_time), next.machine});
        heap.push({tree.remaining[i], static_cast<int>(i)});
    }
    tree.finish = tree.remaining.back();
    return tree;
}

template <class Heap>
void heap(benchmark::State& state) {
    for (auto _ : state)
        benchmark::DoNotOptimize(
            heap_tree<Heap>(static_cast<int>(state.range(0)), ticks{state.range(1)}, ticks{state.range(2)}));
}
void two_queues(benchmark::State& state) {
    for (auto _ : state)
        benchmark::DoNotOptimize(papcoll::grow_greedy_tree(static_cast<int>(state.range(0)),
                                                           ticks{state.range(1)}, ticks{state.range(2)}));
}

void tree_share(benchmark::State& state) {
    papcoll::problem const p{.ranks = static_cast<int>(state.range(0)), .root = 5};
    papcoll::greedy_tree_scheduler const s{.transfer_time = ticks{7000}, .compute_time = ticks{1900}};
    for (auto _ : state) benchmark::DoNotOptimize(s.for_rank(p, p.ranks / 3));
}
void tree_share_with_arrivals(benchmark::State& state) {
    std::mt19937 random(1);
    std::vector<ticks> arrivals(static_cast<std::size_t>(state.range(0)));
    for (auto& time : arrivals) time = ticks{std::uniform_int_distribution<int>(0, 100'000)(random)};
    papcoll::problem const p{.ranks = static_cast<int>(state.range(0)), .root = 5, .arrivals = arrivals};
    papcoll::arrival_tree_scheduler const s{.transfer_time = ticks{7000}, .compute_time = ticks{1900}};
    for (auto _ : state) benchmark::DoNotOptimize(s.for_rank(p, p.ranks / 3));
}

void sizes_and_costs(benchmark::internal::Benchmark* b) {
    b->Unit(benchmark::kMicrosecond)->ArgNames({"n", "d", "c"});
    for (int const n : {10'000, 1'000'000})
        for (auto const& [d, c] : std::vector<std::pair<int, int>>{{1, 0}, {1, 1}, {3, 2}, {7013, 1901}})
            b->Args({n, d, c});
}

BENCHMARK(two_queues)->Apply(sizes_and_costs);
BENCHMARK_TEMPLATE(heap, standard_heap)->Apply(sizes_and_costs);
BENCHMARK_TEMPLATE(heap, four_ary_heap)->Apply(sizes_and_costs);
BENCHMARK(tree_share)->Arg(16)->Arg(1000)->Arg(10'000)->Unit(benchmark::kMicrosecond);
BENCHMARK(tree_share_with_arrivals)->Arg(16)->Arg(1000)->Arg(10'000)->Unit(benchmark::kMicrosecond);

} // namespace

void check_trees() {
    for (int const n : {1, 2, 1000, 54321}) // what is compared must be the same
        for (auto const& [d, c] :
             std::vector<std::pair<ticks, ticks>>{{ticks{1}, ticks{0}}, {ticks{3}, ticks{2}}})
            if (heap_tree<standard_heap>(n, d, c).remaining != papcoll::grow_greedy_tree(n, d, c).remaining ||
                heap_tree<four_ary_heap>(n, d, c).remaining != papcoll::grow_greedy_tree(n, d, c).remaining)
                throw std::logic_error("the trees of " + std::to_string(n) + " machines differ");
}

} // namespace bench
