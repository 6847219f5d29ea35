// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// Paper 2, figure 2: how much longer than the optimum the binomial strategy is when a transfer takes as long
// as a combination, and the Fibonacci strategy when one of them takes nothing. Prints CSV; tree_figure2.py
// draws it.
//
//     tree_figure2 [largest n]       default: 10000
#include <papcoll/scheduler/binomial_tree.hpp>
#include <papcoll/scheduler/fibonacci_tree.hpp>
#include <papcoll/scheduler/greedy_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

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

} // namespace

int main(int argc, char** argv) {
    int const largest = argc > 1 ? std::atoi(argv[1]) : 10'000;
    if (largest < 2) {
        std::fprintf(stderr, "usage: tree_figure2 [largest n], at least 2\n");
        return 2;
    }
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
    std::printf("n,binomial_to_optimum_at_d_equal_c,fibonacci_to_optimum_at_min_0\n");
    for (int n = 2; n <= largest; ++n) {
        auto const i = static_cast<std::size_t>(n - 1);
        std::printf("%d,%.6f,%.6f\n", n, ratio(binomial[i], equal[i]), ratio(fibonacci[i], free[i]));
    }
    return 0;
}
