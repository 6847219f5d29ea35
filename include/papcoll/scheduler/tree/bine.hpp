// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/scheduler/tree/reduction_tree.hpp>

#include <bit>
#include <cstddef>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// How many of n ranks in a row lie on the near side of the one that has their data. The row is two halves,
/// each the other's mirror image where n is even: that rank is in the first half, of ⌈n/2⌉, which counts from
/// the middle. 0, 0, 1, 2, 5, 10, … at powers of two.
[[nodiscard]] inline auto bine_offset(int n) -> int {
    if (n <= 2) return 0;
    int const half = n - n / 2;
    return half - 1 - bine_offset(half);
}

} // namespace detail

/// The distance-halving Bine tree on ranks (De Sensi et al., Bine Trees: Enhancing Collective Operations by
/// Optimizing Communication Locality, SC 2025, arXiv 2508.17311, section 3).
///
/// The ranks round the root are one row. A row of n ranks is halved; the root of each half lies about a third
/// of it from where they meet, and one sends to the other: at powers of two over the distance
/// (2^k − (−1)^k)/3, which is 1, 1, 3, 5, 11, …, where a binomial tree has 1, 2, 4, 8, 16. The halves go on
/// alike. Where P is a power of two that is the tree that the paper defines by negabinary numbers; for others
/// it halves rows of every length, and so needs ⌈log2 P⌉ rounds, too.
///
/// O(P log P). Throws std::invalid_argument for less than one rank.
[[nodiscard]] inline auto grow_bine_tree(int ranks, int root) -> rank_tree {
    detail::require(ranks >= 1, "a tree must have at least 1 machine", ranks);
    /// The ranks of a machine's subtree: so many, `before` of them on this side of it.
    struct row {
        int size, before;
        bool mirrored; // the near side is the upper one
    };
    auto const p = static_cast<std::size_t>(ranks);
    rank_tree placed;
    auto& tree = placed.tree;
    tree.transfer_time = ticks{1};
    bool const mirrored =
        std::bit_width(static_cast<unsigned>(ranks) - 1) % 2 == 0; // the paper's numbers go down
    std::vector<row> rows{{ranks, detail::bine_offset(ranks), mirrored}};
    placed.rank = {root};
    tree.parent = {0};
    tree.remaining = {ticks{0}};
    rows.reserve(p);
    for (bool cut = ranks > 1; cut;) {
        cut = false;
        tree.finish += ticks{1};
        for (std::size_t i = 0, there = rows.size(); i < there; ++i) {
            auto& own = rows[i];
            if (own.size == 1) continue;
            int const far = own.size / 2, near = own.size - far;
            // Of the near half those behind the machine, then of the far one those before its root.
            int const offset = detail::bine_offset(far);
            int const distance = near - own.before + offset;
            int const to = placed.rank[i] + (own.mirrored ? -distance : distance);
            placed.rank.push_back((to % ranks + ranks) % ranks);
            tree.parent.push_back(static_cast<int>(i));
            tree.remaining.push_back(tree.finish);
            rows.push_back({far, offset, own.mirrored});
            // The near half counts from the middle.
            own = {near, near - 1 - own.before, !own.mirrored};
            cut = cut || near > 1;
        }
    }
    return placed;
}

} // namespace papcoll::inline v0
