// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/plan_writer.hpp>
#include <papcoll/policy/policy.hpp>
#include <papcoll/policy/scheduled.hpp>
#include <papcoll/scheduler/reversed.hpp>
#include <papcoll/scheduler/tree/reduction_tree.hpp>
#include <papcoll/scheduler/tree/tree_schedule.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace papcoll::inline v0::detail {

/// What one block costs on its way through a tree.
struct tree_costs {
    ticks transfer{0};
    ticks compute{0};
};

/// Throws std::invalid_argument for what is no time of a combination, in nanoseconds.
inline void check_compute_per_element(double nanoseconds) {
    if (!(nanoseconds >= 0 && nanoseconds <= 1e12))
        throw std::invalid_argument(
            "papcoll: compute_per_element must be from 0 to 1e12 nanoseconds, but is " +
            std::to_string(nanoseconds));
}

/// What a user says about the costs; what is not given follows from the link.
struct tree_cost_options {
    std::optional<ticks> transfer_time;
    std::optional<ticks> compute_time;
    double compute_per_element; // nanoseconds

    void check(int ranks) const {
        check_compute_per_element(compute_per_element);
        check_tree_costs(ranks, transfer_time.value_or(ticks{0}), compute_time.value_or(ticks{0}));
    }
    void append_to(std::vector<std::int64_t>& key) const {
        for (auto const& time : {transfer_time, compute_time}) key.push_back(time ? time->count() : -1);
        key.push_back(std::bit_cast<std::int64_t>(compute_per_element));
    }
    /// Of a block of so many elements. Cut off where the times of all ranks might not fit into ticks.
    [[nodiscard]] auto of_block(std::size_t elements, call_shape const& shape, link_model const& link) const
        -> tree_costs {
        auto const most = ticks(std::int64_t(1) << 58) / (std::int64_t(shape.ranks) + 1);
        double const combination = compute_per_element * static_cast<double>(elements);
        ticks const transfer =
            link.transfer_time(std::min(elements * shape.element_bytes, std::size_t(1) << 40));
        ticks const compute{static_cast<std::int64_t>(std::min(combination, 1e17))};
        return {transfer_time.value_or(std::min(transfer, most)),
                compute_time.value_or(std::min(compute, most))};
    }
};

/// How long n blocks take that follow each other through a tree.
class tree_pipeline {
public:
    explicit tree_pipeline(reduction_tree tree)
        : m_tree(std::move(tree)) {
        auto const one = pipelined_steps(m_tree, 1);
        m_steps = one.last + 1;
        m_period = one.period;
    }

    /// L + (n − 1)·k steps of max(d, c), the last one followed by the shorter of the two; L is the number of
    /// steps of one block and k the most messages per block that one rank receives. One block alone follows
    /// the timed tree.
    [[nodiscard]] auto time(int blocks, tree_costs const& block) const -> double {
        if (blocks == 1)
            return static_cast<double>(retimed(m_tree, block.transfer, block.compute).finish.count());
        double const steps = static_cast<double>(m_steps) + static_cast<double>(m_period) * (blocks - 1);
        return steps * static_cast<double>(std::max(block.transfer, block.compute).count()) +
               static_cast<double>(std::min(block.transfer, block.compute).count());
    }
    /// The most messages of a block that one rank sends and receives together.
    [[nodiscard]] auto messages() const -> int { return static_cast<int>(m_period) + 1; }

private:
    reduction_tree m_tree;
    step_type m_steps = 1;
    step_type m_period = 1;
};

/// Into how many blocks data is best cut that goes through the tree `make(costs(elements))`, in the model, up
/// to a factor of two. In greedy trees the root receives in every step of the whole, L = k: cutting shortens
/// nothing but the last combination, and pays where combining takes long.
template <class Costs, class Make>
[[nodiscard]] auto tree_blocks(call_shape const& shape, Costs costs, Make make) -> int {
    if (shape.ranks == 1) return 1;
    problem const p{.ranks = shape.ranks, .root = shape.root};
    tree_pipeline const pipeline(make(costs(shape.count)).placed(p).tree);
    auto const time = [&](int n) {
        return pipeline.time(n, costs(block_partition{shape.count, n}.largest()));
    };
    int best = 1;
    double least = time(1);
    auto const most = most_blocks(shape, pipeline.messages());
    for (int n = 2; n <= std::min<std::int64_t>(most, 4096) && static_cast<std::size_t>(n) <= shape.count;
         n *= 2)
        if (double const t = time(n); t < least) {
            best = n;
            least = t;
        }
    return best;
}

/// A plan of trees: up to the root in a reduction, down from it in a broadcast, up and down in an all-reduce.
/// `make(costs)` is the scheduler of given costs; going down nothing is combined.
template <class Make>
class tree_planner {
public:
    tree_planner(call_shape const& shape, link_model const& link, tree_cost_options const& costs,
                 std::optional<int> segments, Make make)
        : m_shape(shape)
        , m_link(link)
        , m_costs(costs)
        , m_segments(segments)
        , m_make(std::move(make)) {}

    /// Into how many blocks the data is cut on its way up or down.
    [[nodiscard]] auto blocks(bool up) const -> int {
        if (m_segments) return *m_segments;
        return tree_blocks(
            m_shape, [&](std::size_t elements) { return costs(elements, up); }, m_make);
    }
    [[nodiscard]] auto plan(std::span<ticks const> arrivals = {}) const -> program {
        plan_writer plan(m_shape);
        if (m_shape.operation != collective_kind::broadcast)
            add(plan, scheduler_of(true), blocks(true), arrivals);
        if (m_shape.operation != collective_kind::reduce)
            add(plan, reversed(scheduler_of(false)), blocks(false), {});
        return plan.finish();
    }

private:
    [[nodiscard]] auto costs(std::size_t elements, bool up) const -> tree_costs {
        auto block = m_costs.of_block(elements, m_shape, m_link);
        if (!up && !m_costs.compute_time) block.compute = ticks{0};
        return block;
    }
    [[nodiscard]] auto scheduler_of(bool up) const {
        return m_make(costs(block_partition{m_shape.count, blocks(up)}.largest(), up));
    }
    template <scheduler S>
    void add(plan_writer& plan, S const& algorithm, int blocks, std::span<ticks const> arrivals) const {
        auto const layout = layout_of_root(m_shape, blocks);
        auto const windows = windows_for(layout.longest() * m_shape.element_bytes, m_shape, m_link);
        plan.add(algorithm, layout, windows, arrivals);
    }

    call_shape const& m_shape;
    link_model const& m_link;
    tree_cost_options m_costs;
    std::optional<int> m_segments;
    Make m_make;
};

/// What trees can do: a value comes up to the root, or goes down from it.
[[nodiscard]] constexpr auto trees_provide(collective_kind operation) -> bool {
    return operation == collective_kind::broadcast || operation == collective_kind::reduce ||
           operation == collective_kind::all_reduce;
}

} // namespace papcoll::inline v0::detail
