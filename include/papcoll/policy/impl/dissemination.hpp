// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/impl.hpp>
#include <papcoll/policy/dissemination.hpp>
#include <papcoll/policy/impl/barrier_signs.hpp>
#include <papcoll/policy/impl/gather_combine.hpp>
#include <papcoll/policy/plan_writer.hpp>
#include <papcoll/policy/radix_choice.hpp>
#include <papcoll/program/program_builder.hpp>
#include <papcoll/program/whole_operands.hpp>
#include <papcoll/schedule/exchange_groups.hpp>
#include <papcoll/schedule/problem.hpp>
#include <papcoll/scheduler/dissemination_all_gather.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// Of rounds of k − 1 messages, which leave at once.
[[nodiscard]] inline auto windows_of_rounds(int radix, std::size_t message_bytes, call_shape const& shape,
                                            link_model const& link) -> message_windows {
    auto windows = windows_of_dependent_rounds(message_bytes, shape, link);
    if (windows.admission) return windows;
    windows.together = true;
    int const messages = std::min(radix, shape.ranks) - 1;
    windows.receives = std::max(windows.receives, messages);
    windows.sends = std::max(windows.sends, messages);
    return windows;
}

} // namespace detail

PAPCOLL_IMPL void dissemination::check(call_shape const& shape) const {
    if (radix) detail::require(*radix >= 2, "radix must be at least 2", *radix);
    if (!serves(shape))
        throw std::invalid_argument("papcoll: an all_reduce by dissemination may gather the operands of all "
                                    "ranks, of at most " +
                                    std::to_string(most_operands) + " ranks and " +
                                    std::to_string(most_bytes) + " bytes in all");
}
PAPCOLL_IMPL auto dissemination::plan(call_shape const& shape, link_model const& link) const -> program {
    if (shape.operation == collective_kind::barrier) {
        std::vector<int> all(static_cast<std::size_t>(shape.ranks));
        std::iota(all.begin(), all.end(), 0);
        program_builder to;
        auto chosen = detail::choose_signs(shape.ranks, link);
        if (radix) chosen = {detail::sign_choice::way::dissemination, *radix, 0};
        (void)detail::write_signs(to, all, shape.rank, chosen, {});
        return to.finish();
    }
    int const k = radix ? *radix : detail::choose_dissemination(shape, link).radix;
    plan_writer plan(shape);
    dissemination_all_gather_scheduler const algorithm{k};
    // In the last round one of k parts of what there is.
    auto const message = [&](std::size_t all) {
        return all / static_cast<std::size_t>(std::min(k, std::max(shape.ranks, 2)));
    };
    if (shape.operation == collective_kind::all_reduce) {
        auto const groups = exchange_groups(shape.ranks, k);
        if (!groups.empty()) {
            plan.builder().use(detail::windows_of_rounds(k, shape.bytes(), shape, link));
            write_group_exchange(plan.builder(), groups, shape.rank, shape.count);
            return plan.finish();
        }
        auto const all = shape.bytes() * static_cast<std::size_t>(shape.ranks);
        detail::add_gather_combine(plan, shape, algorithm,
                                   detail::windows_of_rounds(k, message(all), shape, link));
    } else {
        plan.add(algorithm, detail::layout_of_ranks(shape),
                 detail::windows_of_rounds(k, message(shape.bytes()), shape, link));
    }
    return plan.finish();
}

} // namespace papcoll::inline v0
