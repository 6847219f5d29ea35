// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/impl.hpp>
#include <papcoll/policy/arrival_tree.hpp>
#include <papcoll/policy/greedy_tree.hpp>
#include <papcoll/policy/members.hpp>
#include <papcoll/policy/plan_writer.hpp>
#include <papcoll/policy/radix_choice.hpp>
#include <papcoll/policy/tree/fixed_tree.hpp>
#include <papcoll/policy/tree/tree_plan.hpp>
#include <papcoll/scheduler/arrival_tree.hpp>
#include <papcoll/scheduler/bine_tree.hpp>
#include <papcoll/scheduler/binomial_tree.hpp>
#include <papcoll/scheduler/fibonacci_tree.hpp>
#include <papcoll/scheduler/greedy_tree.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

[[nodiscard]] inline auto costs_of(auto const& policy) -> tree_cost_options {
    return {policy.transfer_time, policy.compute_time, policy.compute_per_element};
}
template <class Scheduler, bool Keeps>
[[nodiscard]] auto planner_of(fixed_tree<Scheduler, Keeps> const& policy, call_shape const& shape,
                              link_model const& link) -> tree_planner {
    auto const make = [](problem const& p, tree_costs const&) { return Scheduler{}.placed(p); };
    return {shape, link, {{}, {}, 0}, policy.segments, make};
}
[[nodiscard]] inline auto planner_of(greedy_tree const& policy, call_shape const& shape,
                                     link_model const& link) -> tree_planner {
    auto const make = [&policy](problem const& p, tree_costs const& costs) {
        greedy_tree_scheduler const trees{.transfer_time = costs.transfer,
                                          .compute_time = costs.compute,
                                          .max_transfers = policy.max_transfers,
                                          .max_reducers = policy.max_reducers};
        return trees.placed(p);
    };
    return {shape, link, costs_of(policy), policy.segments, make, policy.max_transfers};
}
/// Whether the blocks of a call are those of its way up: it has one unless it is a broadcast.
[[nodiscard]] inline auto goes_up(call_shape const& shape) -> bool {
    return shape.operation != collective_kind::broadcast;
}

template <class Scheduler, bool Keeps>
auto fixed_tree<Scheduler, Keeps>::name() const -> std::string_view {
    return Scheduler::name;
}
template <class Scheduler, bool Keeps>
auto fixed_tree<Scheduler, Keeps>::blocks(call_shape const& shape, link_model const& link) const -> int {
    return planner_of(*this, shape, link).blocks(goes_up(shape));
}
template <class Scheduler, bool Keeps>
auto fixed_tree<Scheduler, Keeps>::plan(call_shape const& shape, link_model const& link) const -> program {
    return planner_of(*this, shape, link).plan();
}

} // namespace detail

PAPCOLL_IMPL void greedy_tree::check(call_shape const& shape) const {
    detail::costs_of(*this).check(shape.ranks);
    detail::require(max_transfers >= 0, "max_transfers must not be negative", max_transfers);
    detail::require(max_reducers >= 0, "max_reducers must not be negative", max_reducers);
    detail::check_segments(segments);
    if (max_transfers > 0 && segments.value_or(1) > 1)
        throw std::invalid_argument(
            "papcoll: segments must be 1 where max_transfers limits the transfers of the "
            "tree, but is " +
            std::to_string(*segments));
}
PAPCOLL_IMPL auto greedy_tree::fingerprint() const -> std::optional<std::vector<std::int64_t>> {
    std::vector<std::int64_t> key{max_transfers, max_reducers, segments.value_or(0)};
    detail::costs_of(*this).append_to(key);
    return key;
}
PAPCOLL_IMPL auto greedy_tree::blocks(call_shape const& shape, link_model const& link) const -> int {
    return detail::planner_of(*this, shape, link).blocks(detail::goes_up(shape));
}
PAPCOLL_IMPL auto greedy_tree::plan(call_shape const& shape, link_model const& link) const -> program {
    return detail::planner_of(*this, shape, link).plan();
}

PAPCOLL_IMPL void arrival_tree::check(call_shape const& shape) const {
    detail::check_arrivals(arrivals, shape.ranks);
    detail::costs_of(*this).check(shape.ranks);
}
PAPCOLL_IMPL auto arrival_tree::fingerprint() const -> std::optional<std::vector<std::int64_t>> {
    auto key = detail::arrivals_key(arrivals, {});
    detail::costs_of(*this).append_to(key);
    return key;
}
PAPCOLL_IMPL auto arrival_tree::plan(call_shape const& shape, link_model const& link) const -> program {
    // Messages that wait for admission take their latencies one after the other.
    bool const together = !transfer_time && !detail::windows_for(shape.bytes(), shape, link).admission;
    ticks const shared =
        together ? link.latency - ticks{static_cast<ticks::rep>(detail::rooted_message_cost(link))}
                 : ticks{0};
    auto const make = [shared](problem const& p, detail::tree_costs const& costs) {
        auto const latency = std::clamp(shared, ticks{0}, costs.transfer);
        arrival_tree_scheduler const trees{
            .transfer_time = costs.transfer - latency, .compute_time = costs.compute, .latency = latency};
        return trees.placed(p);
    };
    return detail::tree_planner(shape, link, detail::costs_of(*this), 1, make).plan(arrivals.times());
}

} // namespace papcoll::inline v0
