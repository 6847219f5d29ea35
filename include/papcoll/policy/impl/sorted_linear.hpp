// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/impl.hpp>
#include <papcoll/policy/impl/linear.hpp>
#include <papcoll/policy/members.hpp>
#include <papcoll/policy/plan_writer.hpp>
#include <papcoll/policy/sorted_linear.hpp>
#include <papcoll/program/triggered_gather.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The other ranks in the order in which the root asks them.
[[nodiscard]] inline auto order_of_arrival(call_shape const& shape, std::span<ticks const> times)
    -> std::vector<int> {
    std::vector<int> ranks(static_cast<std::size_t>(shape.ranks));
    std::iota(ranks.begin(), ranks.end(), 0);
    std::erase(ranks, shape.root);
    if (!times.empty())
        std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) {
            return times[static_cast<std::size_t>(a)] < times[static_cast<std::size_t>(b)];
        });
    return ranks;
}

} // namespace detail

PAPCOLL_IMPL void sorted_linear::check(call_shape const& shape) const {
    detail::check_arrivals(arrivals, shape.ranks);
    if (first_bytes == 0) throw std::invalid_argument("papcoll: first_bytes must be at least 1, but are 0");
}
PAPCOLL_IMPL auto sorted_linear::fingerprint() const -> std::optional<std::vector<std::int64_t>> {
    return detail::arrivals_key(arrivals, {static_cast<std::int64_t>(first_bytes)});
}
PAPCOLL_IMPL auto sorted_linear::plan(call_shape const& shape, link_model const& link) const -> program {
    plan_writer plan(shape);
    auto const parts = rank_ranges(shape);
    auto const part_of = [&](int rank) {
        auto const& part = parts[static_cast<std::size_t>(rank)];
        return region(memory::out, part.offset, part.size);
    };
    triggered_gather parts_of_ranks(plan.builder(),
                                    std::max<std::size_t>(first_bytes / shape.element_bytes, 1));
    if (shape.rank != shape.root) {
        if (plan.own_part().size() > 0) parts_of_ranks.answer(shape.root, plan.own_part());
    } else {
        for (int const rank : detail::order_of_arrival(shape, arrivals.times()))
            if (part_of(rank).size() > 0) parts_of_ranks.ask(rank, part_of(rank));
    }
    if (shape.operation == collective_kind::all_gather) detail::add_broadcast_of_parts(plan, shape, link);
    return plan.finish();
}

} // namespace papcoll::inline v0
