// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// What a choice of `automatic` costs: the first of its kind on a communicator, and a repeated one, which
// finds its plan.
#include <papcoll/policy/automatic.hpp>
#include <papcoll/policy/plan_cache.hpp>
#include <papcoll/policy/tuning_table.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace bench {
namespace {

papcoll::link_model const link{papcoll::ticks(50'000), 84.0};

auto shape_of(std::size_t count) -> papcoll::call_shape {
    papcoll::call_shape shape{.operation = papcoll::collective_kind::reduce, .ranks = 64, .rank = 5};
    shape.count = count;
    shape.element_bytes = 4;
    shape.has_native = true;
    return shape;
}
auto table_of(std::size_t entries) -> std::shared_ptr<papcoll::tuning_table const> {
    std::vector<papcoll::tuning_table::entry> list;
    for (std::size_t i = 0; i < entries; ++i)
        list.push_back({papcoll::collective_kind::reduce, 64, 64 + i, {"circulant", {}}});
    return std::make_shared<papcoll::tuning_table const>(std::move(list));
}
auto arrivals_of(std::size_t ranks) -> papcoll::arrival_source {
    if (ranks == 0) return {};
    std::vector<papcoll::ticks> times(ranks);
    times.back() = std::chrono::milliseconds(50);
    return times;
}

/// Arguments: entries of the tuning table, 0: the model; whether arrivals are given.
void repeated_choice(benchmark::State& state) {
    papcoll::automatic policy{.arrivals = arrivals_of(state.range(1) != 0 ? 64 : 0)};
    if (state.range(0) > 0) policy.table = table_of(static_cast<std::size_t>(state.range(0)));
    papcoll::detail::plan_cache cache;
    for (std::size_t n = 1; n <= 16; ++n) (void)cache.plan(policy, shape_of(n * 1000), link); // 16000 is last
    auto const shape = shape_of(16'000);
    for (auto _ : state) {
        policy.check(shape);
        benchmark::DoNotOptimize(cache.plan(policy, shape, link));
    }
}
void first_choice(benchmark::State& state) {
    papcoll::automatic policy{.arrivals = arrivals_of(state.range(1) != 0 ? 64 : 0)};
    if (state.range(0) > 0) policy.table = table_of(static_cast<std::size_t>(state.range(0)));
    auto const shape = shape_of(16'000);
    for (auto _ : state) benchmark::DoNotOptimize(policy.plan(shape, link));
}

} // namespace

BENCHMARK(repeated_choice)->Args({0, 0})->Args({1000, 0})->Args({0, 1});
BENCHMARK(first_choice)->Args({0, 0})->Args({1000, 0})->Args({0, 1});

} // namespace bench
