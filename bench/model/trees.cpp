// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// papcoll-bench model trees: arrival_tree beside the best of all trees of few ranks, and trees that do not
// know the arrivals; fails where it is not the best. And uneven_tree, where ranks and links differ in speed.
// Results: results/arrival_tree.md
#include <papcoll/scheduler/arrival_tree.hpp>
#include <papcoll/scheduler/greedy_tree.hpp>
#include <papcoll/scheduler/uneven_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "../../test/support/tree_exhaustive.hpp"
#include "../../test/support/uneven_trees.hpp"
#include "model.hpp"

namespace bench {
namespace {

using papcoll::problem;
using papcoll::ticks;

struct instance {
    problem shape;
    std::vector<ticks> arrivals;
    ticks transfer_time;
    ticks compute_time;
};

auto receivers(papcoll::rank_tree const& placed) -> std::vector<int> {
    std::vector<int> receiver(placed.rank.size(), placed.rank[0]);
    for (int i = 1; i < placed.tree.machines(); ++i) {
        auto const t = placed.tree.at(i);
        receiver[static_cast<std::size_t>(placed.rank[static_cast<std::size_t>(t.from)])] =
            placed.rank[static_cast<std::size_t>(t.to)];
    }
    return receiver;
}

/// Costs from 0 to 20; arrivals even over up to six hops, in groups two hops apart, or some late ones.
auto random_instance(std::mt19937& random, int ranks) -> instance {
    auto const below = [&](int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random); };
    instance made{{}, {}, ticks{below(21)}, ticks{below(21)}};
    if (made.transfer_time + made.compute_time == ticks{0}) made.transfer_time = ticks{1};
    int const hop = static_cast<int>((made.transfer_time + made.compute_time).count());
    int const spread = 1 + below(6 * hop);
    int const kind = below(3);
    for (int rank = 0; rank < ranks; ++rank) {
        int const time = below(spread);
        made.arrivals.emplace_back(kind == 0       ? time
                                   : kind == 1     ? time / (2 * hop) * 2 * hop
                                   : below(3) == 0 ? time
                                                   : 0);
    }
    made.shape = {.ranks = ranks, .root = below(ranks)};
    return made;
}

struct tally {
    int instances = 0;
    int optimal = 0;
    double worst = 1;
    double fixed_sum = 0;
    double fixed_worst = 1;
};

/// Ratios of last delays: end of the reduction less the last arrival.
void compare(instance const& given, tally& result) {
    auto p = given.shape;
    p.arrivals = given.arrivals;
    tree_exhaustive::evaluator evaluate(p, given.transfer_time, given.compute_time);
    ticks const last = *std::max_element(given.arrivals.begin(), given.arrivals.end());
    auto const delay = [&](ticks end) { return static_cast<double>((end - last).count()); };
    double const best = delay(tree_exhaustive::least_end(p, given.transfer_time, given.compute_time));
    double const own =
        delay(evaluate.end(receivers(grow_arrival_tree(p, given.transfer_time, given.compute_time))));
    papcoll::greedy_tree_scheduler const greedy{.transfer_time = given.transfer_time,
                                                .compute_time = given.compute_time};
    double const fixed = delay(evaluate.end(receivers(greedy.placed(p))));
    ++result.instances;
    result.optimal += own == best ? 1 : 0;
    result.worst = std::max(result.worst, own / best);
    result.fixed_sum += fixed / best;
    result.fixed_worst = std::max(result.fixed_worst, fixed / best);
}

struct pattern {
    char const* name;
    ticks (*arrival)(int rank, int ranks, std::mt19937& random); // in ticks of 1/1000 transfer
};

constexpr pattern patterns[] = {
    {"balanced", [](int, int, std::mt19937&) { return ticks{0}; }},
    {"last rank 5 transfers late",
     [](int rank, int ranks, std::mt19937&) { return ticks{rank + 1 == ranks ? 5000 : 0}; }},
    {"root 5 transfers late", [](int rank, int, std::mt19937&) { return ticks{rank == 0 ? 5000 : 0}; }},
    {"upper half 5 transfers late",
     [](int rank, int ranks, std::mt19937&) { return ticks{rank >= ranks / 2 ? 5000 : 0}; }},
    {"ascending over 20 transfers",
     [](int rank, int ranks, std::mt19937&) { return ticks{20'000LL * rank / ranks}; }},
    {"random over 20 transfers",
     [](int, int, std::mt19937& random) {
         return ticks{std::uniform_int_distribution<int>(0, 20'000)(random)};
     }},
};

/// Last delays in transfers; combining takes a quarter of a transfer, the root is rank 0.
void compare_many_ranks(int ranks, std::mt19937& random) {
    ticks const transfer_time{1000};
    ticks const compute_time{250};
    for (auto const& shape : patterns) {
        std::vector<ticks> arrivals;
        for (int rank = 0; rank < ranks; ++rank) arrivals.push_back(shape.arrival(rank, ranks, random));
        problem const p{.ranks = ranks, .arrivals = arrivals};
        tree_exhaustive::evaluator evaluate(p, transfer_time, compute_time);
        ticks const last = *std::max_element(arrivals.begin(), arrivals.end());
        auto const delay = [&](papcoll::rank_tree const& placed) {
            return static_cast<double>((evaluate.end(receivers(placed)) - last).count()) / 1000;
        };
        papcoll::greedy_tree_scheduler const greedy{.transfer_time = transfer_time,
                                                    .compute_time = compute_time};
        std::printf("| %d | %s | %.2f | %.2f |\n", ranks, shape.name,
                    delay(grow_arrival_tree(p, transfer_time, compute_time)), delay(greedy.placed(p)));
    }
}

auto mean(std::vector<ticks> const& times) -> ticks {
    return std::accumulate(times.begin(), times.end(), ticks{0}) / static_cast<ticks::rep>(times.size());
}
/// Lengths where costs differ from rank to rank and from pair to pair, up to `spread` times.
void compare_uneven(int ranks, int spread, int instances, std::mt19937& random) {
    double even_sum = 0, best_sum = 0, best_worst = 1;
    constexpr int most_searched = 6;
    for (int i = 0; i < instances; ++i) {
        auto costs = uneven_trees::random_costs(ranks, spread, spread, static_cast<unsigned>(random()));
        for (auto* const times : {&costs.compute_times, &costs.transfer_times})
            for (auto& t : *times) t *= 100;
        auto const length = [](papcoll::rank_tree const& t) {
            return static_cast<double>(t.tree.finish.count());
        };
        auto const own = length(papcoll::grow_uneven_tree(ranks, 0, costs));
        papcoll::greedy_tree_scheduler const even{.transfer_time = mean(costs.transfer_times),
                                                  .compute_time = mean(costs.compute_times)};
        even_sum += length(retimed(even.placed({.ranks = ranks}), costs)) / own;
        if (ranks > most_searched) continue;
        auto const ratio = own / static_cast<double>(uneven_trees::least_length(ranks, 0, costs).count());
        best_sum += ratio;
        best_worst = std::max(best_worst, ratio);
    }
    std::printf("| %d | %d | %.2f |", ranks, spread, even_sum / instances);
    if (ranks <= most_searched)
        std::printf(" %.3f | %.2f |\n", best_sum / instances, best_worst);
    else
        std::printf(" | |\n");
}

auto run_trees(int largest, int instances, std::uint64_t seed) -> int {
    std::mt19937 random(static_cast<unsigned>(seed));
    std::printf("| n | instances | optimal | worst ÷ optimum | arrival-blind greedy tree ÷ optimum: mean | "
                "worst |\n");
    std::printf("|---|---|---|---|---|---|\n");
    bool all = true;
    for (int n = 2; n <= largest; ++n) {
        tally result;
        for (int i = 0; i < instances; ++i) compare(random_instance(random, n), result);
        all = all && result.optimal == result.instances;
        std::printf("| %d | %d | %d | %.3f | %.2f | %.2f |\n", n, result.instances, result.optimal,
                    result.worst, result.fixed_sum / result.instances, result.fixed_worst);
        std::fflush(stdout);
    }
    std::printf(
        "\n| ranks | arrivals | last delay in transfers: arrival tree | greedy tree |\n|---|---|---|---|\n");
    for (int const ranks : {13, 16, 1000, 10'000}) compare_many_ranks(ranks, random);
    std::printf("\n| ranks | costs differ up to | greedy tree for mean costs ÷ uneven tree | uneven tree ÷ "
                "optimum: mean | worst |\n|---|---|---|---|---|\n");
    for (int const ranks : {4, 6, 16, 64, 256})
        for (int const spread : {2, 10, 100})
            compare_uneven(ranks, spread, std::min(instances, ranks <= 16 ? 100 : 10), random);
    return all ? 0 : 1;
}

} // namespace

void add_model_trees(program& all, CLI::App& group) {
    struct trees_settings {
        int ranks = 8, instances = 200;
        std::uint64_t seed = 1;
    };
    auto const s = std::make_shared<trees_settings>();
    auto& app =
        all.add_to(group, "trees", "Trees for arrivals, and for uneven costs, beside the best of all trees",
                   [s] { return run_trees(s->ranks, s->instances, s->seed); });
    add_option(app, "--ranks", s->ranks, "the most", between(2, 9));
    add_option(app, "--instances", s->instances, "of each number of ranks", positive);
    add_seed(app, s->seed);
}

} // namespace bench
