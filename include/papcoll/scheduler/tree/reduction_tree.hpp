// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace papcoll::inline v0 {

/// One message of a timed tree. At `end` the receiver has it; combining takes `compute_time` from then on, or
/// from the end of the receiver's previous combination.
struct tree_transfer {
    /// The rank that sends.
    int from = 0;
    /// The rank that receives.
    int to = 0;
    ticks begin{0};
    ticks end{0};

    friend auto operator==(tree_transfer const&, tree_transfer const&) -> bool = default;
};

/// A reduction tree with times. Machines are numbered in the order in which a construction that goes back
/// from the end attaches them: machine 0 has the result, `parent[i] < i` receives from i, and of a machine's
/// children the one with the largest number sends first.
struct reduction_tree {
    /// To whom machine i ≥ 1 sends; entry 0 means nothing.
    std::vector<int> parent;
    /// How long before `finish` the transfer of machine i ≥ 1 begins; entry 0 is zero.
    std::vector<ticks> remaining;
    /// How long the value travels from one rank to another.
    ticks transfer_time{0};
    /// How long two values take to be combined.
    ticks compute_time{0};
    /// When the result is complete; trees whose machines are all available at time 0 take that long.
    ticks finish{0};

    /// How many ranks there are.
    [[nodiscard]] auto machines() const -> int { return static_cast<int>(parent.size()); }
    /// The transfer of machine i ≥ 1.
    [[nodiscard]] auto at(int i) const -> tree_transfer {
        auto const index = static_cast<std::size_t>(i);
        ticks const begin = finish - remaining[index];
        return {i, parent[index], begin, begin + transfer_time};
    }
};

/// A tree whose machine i is rank `rank[i]` of a communicator.
struct rank_tree {
    /// The tree, of which this rank is one node.
    reduction_tree tree;
    std::vector<int> rank;
};

namespace detail {

/// Children per machine.
inline auto degrees(reduction_tree const& tree) -> std::vector<int> {
    std::vector<int> degree(tree.parent.size());
    for (std::size_t i = 1; i < degree.size(); ++i) ++degree[static_cast<std::size_t>(tree.parent[i])];
    return degree;
}

/// Machines in the subtree of each machine, itself included.
inline auto subtree_sizes(reduction_tree const& tree) -> std::vector<int> {
    std::vector<int> size(tree.parent.size(), 1);
    for (std::size_t i = size.size() - 1; i >= 1; --i)
        size[static_cast<std::size_t>(tree.parent[i])] += size[i];
    return size;
}

/// No time in a tree exceeds (machines + 1) · (transfer_time + compute_time): it must fit, with room to add.
inline void check_tree_costs(int machines, ticks transfer_time, ticks compute_time) {
    auto const most = std::numeric_limits<ticks::rep>::max() / 8 / (ticks::rep{machines} + 1);
    require(transfer_time.count() >= 0, "transfer_time must not be negative", transfer_time.count());
    require(compute_time.count() >= 0, "compute_time must not be negative", compute_time.count());
    require(transfer_time.count() <= most, "transfer_time must leave room for the times of all ranks",
            transfer_time.count());
    require(compute_time.count() <= most, "compute_time must leave room for the times of all ranks",
            compute_time.count());
}

} // namespace detail

/// All messages of a tree, in the order of their begin. Ends are machines, for a rank_tree ranks.
[[nodiscard]] inline auto tree_transfers(reduction_tree const& tree) -> std::vector<tree_transfer> {
    std::vector<tree_transfer> all;
    all.reserve(tree.parent.size());
    for (int i = tree.machines() - 1; i >= 1; --i) all.push_back(tree.at(i));
    std::stable_sort(all.begin(), all.end(),
                     [](tree_transfer const& a, tree_transfer const& b) { return a.begin < b.begin; });
    return all;
}
[[nodiscard]] inline auto tree_transfers(rank_tree const& placed) -> std::vector<tree_transfer> {
    auto all = tree_transfers(placed.tree);
    for (auto& t : all) {
        t.from = placed.rank[static_cast<std::size_t>(t.from)];
        t.to = placed.rank[static_cast<std::size_t>(t.to)];
    }
    return all;
}

/// The same tree, every machine's children in the same order, with the least times that other costs permit:
/// paper 2, Proposition 3, read from the end. The k-th child that machine m got (k = 0, 1, …) begins
/// transfer_time + compute_time + k · max(transfer_time, compute_time) before m's own transfer.
///
/// All machines are taken to be available from the start. O(machines).
[[nodiscard]] inline auto retimed(reduction_tree tree, ticks transfer_time, ticks compute_time)
    -> reduction_tree {
    detail::check_tree_costs(tree.machines(), transfer_time, compute_time);
    ticks const next = std::max(transfer_time, compute_time);
    std::vector<ticks> available(tree.parent.size());
    tree.transfer_time = transfer_time;
    tree.compute_time = compute_time;
    tree.finish = ticks{0};
    for (std::size_t i = 1; i < available.size(); ++i) {
        auto& at_parent = available[static_cast<std::size_t>(tree.parent[i])];
        available[i] = tree.remaining[i] = at_parent + transfer_time + compute_time;
        at_parent += next;
        tree.finish = std::max(tree.finish, tree.remaining[i]);
    }
    return tree;
}

} // namespace papcoll::inline v0
