// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/scheduler/tree/reduction_tree.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <string>
#include <vector>

namespace tree_cases {

using papcoll::reduction_tree;
using papcoll::ticks;

struct costs {
    ticks transfer;
    ticks compute;
};

inline auto all_costs() -> std::vector<costs> {
    std::vector<costs> all;
    for (auto const& [d, c] : std::vector<std::pair<int, int>>{{1, 0},
                                                               {0, 1},
                                                               {1, 1},
                                                               {2, 1},
                                                               {1, 2},
                                                               {3, 2},
                                                               {5, 1},
                                                               {1, 5},
                                                               {7, 3},
                                                               {3, 7},
                                                               {100, 1},
                                                               {9, 10}})
        all.push_back({ticks{d}, ticks{c}});
    return all;
}

inline auto ceil_log2(int n) -> int { return static_cast<int>(std::bit_width(static_cast<unsigned>(n - 1))); }

/// The trees without names and order: "(" children in order of their text ")".
inline auto shape(reduction_tree const& tree) -> std::string {
    std::vector<std::vector<std::string>> children(tree.parent.size());
    for (std::size_t i = tree.parent.size(); i-- > 0;) {
        std::sort(children[i].begin(), children[i].end());
        std::string text = "(";
        for (auto const& child : children[i]) text += child;
        text += ")";
        if (i == 0) return text;
        children[static_cast<std::size_t>(tree.parent[i])].push_back(text);
    }
    return {};
}

/// What is wrong with the times of a tree whose machines are all available at time 0; empty: nothing.
inline auto timing_fault(reduction_tree const& tree) -> std::string {
    std::vector<ticks> link(tree.parent.size());
    std::vector<ticks> result(tree.parent.size());
    for (int i = tree.machines() - 1; i >= 1; --i) {
        auto const t = tree.at(i);
        auto const from = static_cast<std::size_t>(t.from);
        auto const to = static_cast<std::size_t>(t.to);
        if (t.to >= i) return "receives from a machine attached before it: " + std::to_string(t.to);
        if (t.begin < result[from]) return "sends before it has combined: " + std::to_string(t.from);
        if (t.begin < link[to]) return "receives two messages at a time: " + std::to_string(t.to);
        if (t.end - t.begin != tree.transfer_time) return "a transfer of another length";
        link[to] = t.end;
        result[to] = std::max(result[to], t.end) + tree.compute_time;
    }
    return result[0] == tree.finish ? "" : "the end is not when the sink is ready";
}

/// The most transfers under way at one instant; those that end and begin at an instant do not meet.
inline auto most_transfers(reduction_tree const& tree) -> int {
    std::vector<std::pair<ticks, int>> events;
    for (int i = 1; i < tree.machines(); ++i) {
        events.emplace_back(tree.at(i).begin, 1);
        events.emplace_back(tree.at(i).end, -1);
    }
    std::sort(events.begin(), events.end());
    int now = 0;
    int most = 0;
    for (auto const& event : events) most = std::max(most, now += event.second);
    return most;
}

inline auto reducers(reduction_tree const& tree) -> int {
    auto const degree = papcoll::detail::degrees(tree);
    return static_cast<int>(
        std::count_if(degree.begin(), degree.end(), [](int children) { return children > 0; }));
}

/// Of a tree given by receiver[rank]; the root's own entry is the root. The most messages that one rank
/// receives.
inline auto largest_degree(std::vector<int> const& receiver) -> int {
    std::vector<int> degree(receiver.size());
    for (std::size_t i = 0; i < receiver.size(); ++i)
        if (receiver[i] != static_cast<int>(i)) ++degree[static_cast<std::size_t>(receiver[i])];
    return *std::max_element(degree.begin(), degree.end());
}
/// The most messages from a rank to the root.
inline auto depth(std::vector<int> const& receiver) -> int {
    int most = 0;
    for (std::size_t i = 0; i < receiver.size(); ++i) {
        int hops = 0;
        for (auto at = i; receiver[at] != static_cast<int>(at); at = static_cast<std::size_t>(receiver[at]))
            ++hops;
        most = std::max(most, hops);
    }
    return most;
}
inline auto largest_degree(reduction_tree const& tree) -> int { return largest_degree(tree.parent); }
inline auto depth(reduction_tree const& tree) -> int { return depth(tree.parent); }

} // namespace tree_cases
