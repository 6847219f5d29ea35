// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/tree/reduction_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// When each machine sends: block b in step first[i] + b · period.
struct tree_steps {
    std::vector<step_type> first;
    step_type period = 1;
    /// The largest step.
    step_type last = 0;
};

/// The order of the timed tree: equal steps for transfers that begin together, larger ones for later. Where
/// times do not tell one transfer of a machine from the next, since they take none, steps still do.
inline auto timed_steps(reduction_tree const& tree) -> tree_steps {
    std::vector<step_type> first(tree.parent.size());
    std::vector<step_type> received(tree.parent.size(), -1);
    step_type step = 0;
    for (std::size_t i = first.size() - 1; i >= 1; --i) {
        if (i + 1 < first.size() && tree.remaining[i] != tree.remaining[i + 1]) ++step;
        auto& at_parent = received[static_cast<std::size_t>(tree.parent[i])];
        step = std::max({step, at_parent + 1, received[i] + 1});
        first[i] = at_parent = step;
    }
    return {std::move(first), 1, step};
}

/// A pipeline: each machine receives a block from all its children in consecutive steps, directly before it
/// sends it on, and the next block `period` steps later, the most children that any machine has.
inline auto pipelined_steps(reduction_tree const& tree, int blocks) -> tree_steps {
    auto const degree = degrees(tree);
    tree_steps steps;
    steps.first.resize(degree.size());
    steps.period = std::max(1, *std::max_element(degree.begin(), degree.end()));
    std::vector<step_type> before_end(degree.size()); // of the next transfer to this machine
    step_type longest = 0;
    for (std::size_t i = 1; i < degree.size(); ++i) {
        auto const distance = before_end[static_cast<std::size_t>(tree.parent[i])]++;
        before_end[i] = distance + 1;
        steps.first[i] = -distance;
        longest = std::max(longest, distance);
    }
    for (auto& step : steps.first) step += longest;
    steps.last = longest + (blocks - 1) * steps.period;
    return steps;
}

/// The schedule of a tree on ranks; `tree.remaining` must not decrease along the machines.
class tree_schedule {
public:
    tree_schedule(rank_tree placed, problem const& p)
        : m_placed(std::move(placed))
        , m_steps(p.blocks == 1 ? timed_steps(m_placed.tree) : pipelined_steps(m_placed.tree, p.blocks))
        , m_blocks(p.blocks) {}

    [[nodiscard]] auto transfers() const -> std::vector<transfer> {
        std::vector<transfer> all;
        all.reserve(m_placed.rank.size() * static_cast<std::size_t>(m_blocks));
        for (int block = 0; block < m_blocks; ++block)
            for (std::size_t i = m_placed.rank.size() - 1; i >= 1; --i)
                all.push_back({step(i, block), m_placed.rank[i], receiver(i), block});
        std::sort(all.begin(), all.end());
        return all;
    }

    [[nodiscard]] auto for_rank(int rank) const -> rank_schedule {
        auto const found = std::find(m_placed.rank.begin(), m_placed.rank.end(), rank);
        auto const self = static_cast<std::size_t>(found - m_placed.rank.begin());
        std::vector<std::size_t> children; // the first to send first
        for (std::size_t i = m_placed.rank.size() - 1; i > self; --i)
            if (static_cast<std::size_t>(m_placed.tree.parent[i]) == self) children.push_back(i);
        rank_schedule share;
        if (self != 0) share.sends.reserve(static_cast<std::size_t>(m_blocks));
        share.receives.reserve(children.size() * static_cast<std::size_t>(m_blocks));
        for (int block = 0; block < m_blocks; ++block) {
            for (auto const i : children) share.receives.push_back({step(i, block), m_placed.rank[i], block});
            if (self != 0) share.sends.push_back({step(self, block), receiver(self), block});
        }
        return share;
    }

    /// The rank's share when time and directions are turned round: a dissemination.
    [[nodiscard]] auto reversed_for_rank(int rank) const -> rank_schedule {
        auto share = for_rank(rank);
        std::swap(share.sends, share.receives);
        for (auto* list : {&share.sends, &share.receives}) {
            std::reverse(list->begin(), list->end());
            for (auto& t : *list) t.step = m_steps.last - t.step;
        }
        return share;
    }

private:
    [[nodiscard]] auto step(std::size_t machine, int block) const -> step_type {
        return m_steps.first[machine] + block * m_steps.period;
    }
    [[nodiscard]] auto receiver(std::size_t machine) const -> int {
        return m_placed.rank[static_cast<std::size_t>(m_placed.tree.parent[machine])];
    }

    rank_tree m_placed;
    tree_steps m_steps;
    int m_blocks;
};

/// Trees end at the root: throws std::invalid_argument where the problem is malformed or wants anything else.
inline void check_tree_problem(problem const& p) {
    check(p);
    for (int const owner : p.owners)
        require(owner == p.root, "every entry of problem.owners must be the root", owner);
}
inline void check_tree_problem(problem const& p, int rank) {
    check_tree_problem(p);
    require(rank >= 0 && rank < p.ranks, "rank must be a rank of the problem", rank);
}

/// The schedule of a scheduler that has `placed(problem)`.
template <class S>
auto tree_schedule_of(S const& s, problem const& p) -> tree_schedule {
    check_tree_problem(p);
    return tree_schedule(s.placed(p), p);
}

} // namespace detail

} // namespace papcoll::inline v0
