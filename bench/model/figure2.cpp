// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// papcoll-bench model figure2: figure 2 of paper 2: how much longer than the optimum the binomial strategy is
// when a transfer takes as long as a combination, and the Fibonacci strategy when one of them takes nothing.
#include <papcoll/scheduler/binomial_tree.hpp>
#include <papcoll/scheduler/fibonacci_tree.hpp>
#include <papcoll/scheduler/greedy_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "../support/document.hpp"
#include "model.hpp"

namespace bench {
namespace {

using papcoll::ticks;

/// For each n the length of the tree of n machines. A strategy attaches machines one after the other, so each
/// of its trees is the beginning of all larger ones.
auto lengths(papcoll::reduction_tree const& tree, ticks transfer_time, ticks compute_time)
    -> std::vector<ticks> {
    auto longest = retimed(tree, transfer_time, compute_time).remaining;
    for (std::size_t i = 1; i < longest.size(); ++i) longest[i] = std::max(longest[i], longest[i - 1]);
    return longest;
}

auto run_figure2(int largest, std::string const& json) -> int {
    papcoll::problem const p{.ranks = largest};
    ticks const one{1};
    ticks const none{0};
    auto const binomial = lengths(papcoll::binomial_tree_scheduler{}.placed(p).tree, one, one);
    auto const fibonacci = lengths(papcoll::fibonacci_tree_scheduler{}.placed(p).tree, one, none);
    auto const equal = lengths(papcoll::grow_greedy_tree(largest, one, one), one, one);
    auto const free = lengths(papcoll::grow_greedy_tree(largest, one, none), one, none);
    auto const ratio = [](ticks length, ticks optimum) {
        return static_cast<double>(length.count()) / static_cast<double>(optimum.count());
    };
    document result(json, "model figure2", nlohmann::json::object());
    double worst_binomial = 1, worst_fibonacci = 1;
    for (int n = 2; n <= largest; ++n) {
        auto const i = static_cast<std::size_t>(n - 1);
        auto const b = ratio(binomial[i], equal[i]), f = ratio(fibonacci[i], free[i]);
        worst_binomial = std::max(worst_binomial, b);
        worst_fibonacci = std::max(worst_fibonacci, f);
        result.add({{"machines", n}, {"binomial_to_optimum", b}, {"fibonacci_to_optimum", f}});
    }
    result.write();
    std::printf("up to %d machines: binomial ÷ optimum at most %.3f where a transfer takes as long as a "
                "combination, Fibonacci ÷ optimum at most %.3f where one of the two takes nothing\n",
                largest, worst_binomial, worst_fibonacci);
    return 0;
}

} // namespace

void add_model_figure2(program& all, CLI::App& group) {
    struct figure2_settings {
        int largest = 10'000;
        std::string json;
    };
    auto const s = std::make_shared<figure2_settings>();
    auto& app = all.add_to(group, "figure2", "Binomial and Fibonacci trees beside the best",
                           [s] { return run_figure2(s->largest, s->json); });
    add_option(app, "--machines", s->largest, "the most", between(2, 10'000'000));
    add_json(app, s->json);
}

} // namespace bench
