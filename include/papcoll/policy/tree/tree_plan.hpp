// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/plan_writer.hpp>
#include <papcoll/policy/policy.hpp>
#include <papcoll/schedule/problem.hpp>
#include <papcoll/scheduler/tree/limited_tree.hpp>
#include <papcoll/scheduler/tree/reduction_tree.hpp>
#include <papcoll/scheduler/tree/tree_schedule.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
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

/// Throws std::invalid_argument unless it is the time of a combination, in nanoseconds.
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

/// The timed tree of one block of these costs, and the ranks of its machines.
using tree_maker = std::function<rank_tree(problem const&, tree_costs const&)>;

/// A plan of trees: up to the root in a reduction, down from it in a broadcast, up and down in an all-reduce.
/// Going down nothing is combined.
class tree_planner {
public:
    tree_planner(call_shape const& shape, link_model const& link, tree_cost_options const& costs,
                 std::optional<int> segments, tree_maker make, int max_transfers = 0)
        : m_shape(shape)
        , m_link(link)
        , m_costs(costs)
        , m_segments(segments)
        , m_make(std::move(make))
        , m_max_transfers(max_transfers) {}

    /// Into how many blocks the data is cut on its way up or down: those that are asked for, or what is
    /// shortest in the model, up to a factor of two; one where transfers are limited. In greedy trees the
    /// root receives in every step of the whole, L = k: cutting shortens nothing but the last combination,
    /// and pays where combining takes long.
    [[nodiscard]] auto blocks(bool up) const -> int {
        if (m_segments) return *m_segments;
        if (m_shape.ranks == 1 || m_max_transfers > 0) return 1;
        problem const p{.ranks = m_shape.ranks, .root = m_shape.root};
        tree_pipeline const pipeline(m_make(p, costs(1, up)).tree);
        auto const most = std::min({most_blocks(m_shape, pipeline.messages()), std::int64_t{4096},
                                    static_cast<std::int64_t>(std::min(m_shape.count, std::size_t{4096}))});
        int best = 1;
        double least = pipeline.time(1, costs(1, up));
        for (int n = 2; n <= most; n *= 2)
            if (double const t = pipeline.time(n, costs(n, up)); t < least) {
                best = n;
                least = t;
            }
        return best;
    }
    /// The arrivals are those at the way up.
    [[nodiscard]] auto plan(std::span<ticks const> arrivals = {}) const -> program {
        plan_writer plan(m_shape);
        if (m_shape.operation != collective_kind::broadcast) add(plan, true, arrivals);
        if (m_shape.operation != collective_kind::reduce) add(plan, false, {});
        return plan.finish();
    }

private:
    /// Of a block where the data is cut into so many.
    [[nodiscard]] auto costs(int blocks, bool up) const -> tree_costs {
        auto block = m_costs.of_block(block_partition{m_shape.count, blocks}.largest(), m_shape, m_link);
        if (!up && !m_costs.compute_time) block.compute = ticks{0};
        return block;
    }
    void add(plan_writer& plan, bool up, std::span<ticks const> arrivals) const {
        int const n = blocks(up);
        auto const layout = layout_of_root(m_shape, n);
        problem const p{.ranks = m_shape.ranks, .root = m_shape.root, .blocks = n, .arrivals = arrivals};
        check_tree_problem(p, m_shape.rank);
        auto const kind = up ? schedule_kind::reduction : schedule_kind::dissemination;
        auto const windows = windows_for(layout.longest() * m_shape.element_bytes, m_shape, m_link);
        auto const placed = m_make(p, costs(n, up));
        if (m_max_transfers > 0)
            return plan.add(kind, limited_share(placed, up, m_max_transfers, m_shape.rank), layout, windows);
        tree_schedule const schedule(placed, p);
        plan.add(kind, up ? schedule.for_rank(m_shape.rank) : schedule.reversed_for_rank(m_shape.rank),
                 layout, windows);
    }

    call_shape const& m_shape;
    link_model const& m_link;
    tree_cost_options m_costs;
    std::optional<int> m_segments;
    tree_maker m_make;
    int m_max_transfers;
};

} // namespace papcoll::inline v0::detail
