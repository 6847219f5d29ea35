// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/scheduler/tree/reduction_tree.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// Places a greedy tree on ranks so that every subtree has contiguous ranks and machine 0 is `root`.
///
/// Who arrives later lies further out: a machine other than the sink has its children to its right, the sink
/// on both sides. So what a rank holds stays contiguous, and a sender below the receiver brings what is left
/// of it. The sink's children a_0, a_1, … in order of attachment, which is their order of size, must be split
/// into `root` machines on the left and the others on the right. Each goes to the left if it still fits
/// there. That comes out even because a_j ≤ 1 + a_{j+1} + a_{j+2} + …: a machine's size is what it and its
/// later descendants make of the time that is left. When a_j was attached the sink was put into one queue of
/// greedy_growth and a_j into the other, the sink not later and first among equals. Who serves earlier is
/// ahead in both queues afterwards, with all that is attached to it. So whatever is attached below a_j has a
/// counterpart, attached before it, that hangs in the same way below the sink itself, after a_j. (Times only
/// grow with those of the server and with the number of machines attached, so this holds with limits, too.)
inline auto contiguous_ranks(reduction_tree const& tree, int root) -> std::vector<int> {
    auto const size = subtree_sizes(tree);
    std::vector<int> rank(size.size());
    std::vector<int> end(size.size()); // of the ranks of a machine's subtree that are not given to a child
    rank[0] = root;
    end[0] = tree.machines();
    int left = 0;
    for (std::size_t i = 1; i < size.size(); ++i) {
        auto const parent = static_cast<std::size_t>(tree.parent[i]);
        if (parent == 0 && left + size[i] <= root) {
            rank[i] = left;
            left += size[i];
        } else {
            end[parent] -= size[i];
            rank[i] = end[parent];
        }
        end[i] = rank[i] + size[i];
    }
    return rank;
}

inline auto in_rank_order(reduction_tree tree, int root) -> rank_tree {
    auto rank = contiguous_ranks(tree, root);
    return {std::move(tree), std::move(rank)};
}

} // namespace detail

} // namespace papcoll::inline v0
