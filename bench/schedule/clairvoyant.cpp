// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// How long one rank computes its share of a Clairvoyant schedule, over all searches and sizes.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "contestants.hpp"
#include "schedule.hpp"

namespace bench {
namespace {

auto draw(distribution kind, int size, int count) -> std::vector<instance> {
    std::vector<instance> instances;
    for (int seed = 0; seed < count; ++seed)
        instances.push_back(draw_instance(kind, size, static_cast<unsigned>(seed)));
    return instances;
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

} // namespace bench
