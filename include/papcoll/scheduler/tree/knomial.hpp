// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/scheduler/tree/reduction_tree.hpp>

#include <cstddef>
#include <cstdint>

namespace papcoll::inline v0 {

/// The k-nomial tree: going back from the end, in every round each machine that is there gets k − 1 children,
/// the first machine first, until there are so many as are wanted. ⌈log_k P⌉ rounds; with k = 2 the binomial
/// tree, with k ≥ P a flat one.
///
/// So machine i ≥ 1 of round t = ⌊log_k i⌋ sends to ⌊(i − k^t) ÷ (k − 1)⌋. Times are rounds, in which a
/// machine receives k − 1 messages. Machines are attached in the order of their parents, the root first: of
/// what hangs below a child of the root a copy hangs below the root itself, attached earlier and behind that
/// child. That is what contiguous_ranks() needs, as greedy trees have it.
///
/// O(machines). Throws std::invalid_argument for less than one machine, or a radix below 2.
[[nodiscard]] inline auto grow_knomial_tree(int machines, int radix) -> reduction_tree {
    detail::require(machines >= 1, "a tree must have at least 1 machine", machines);
    detail::require(radix >= 2, "radix must be at least 2", radix);
    auto const n = static_cast<std::size_t>(machines);
    auto const children = static_cast<std::size_t>(radix) - 1; // of a round
    reduction_tree tree;
    tree.parent.resize(n);
    tree.remaining.resize(n);
    tree.transfer_time = ticks{1};
    std::size_t there = 1;
    for (; there < n; there *= children + 1) {
        tree.finish += ticks{1};
        for (std::size_t i = there; i < n && (i - there) / children < there; ++i) {
            tree.parent[i] = static_cast<int>((i - there) / children);
            tree.remaining[i] = tree.finish;
        }
    }
    return tree;
}

} // namespace papcoll::inline v0
