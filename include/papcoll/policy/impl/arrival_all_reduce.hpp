// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/impl.hpp>
#include <papcoll/policy/arrival_all_reduce.hpp>
#include <papcoll/policy/circulant.hpp>
#include <papcoll/policy/circulant_choice.hpp>
#include <papcoll/policy/members.hpp>
#include <papcoll/policy/plan_writer.hpp>
#include <papcoll/scheduler/arrival_all_reduce.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

[[nodiscard]] inline auto arrival_scheduler_of(call_shape const& shape, link_model const& link)
    -> arrival_all_reduce_scheduler {
    auto const volume = link.transfer_time(shape.bytes()) - link.latency;
    return {.transfer_time = std::max(volume, ticks(1)), .latency = link.latency};
}
[[nodiscard]] inline auto problem_of(arrival_all_reduce const& policy, call_shape const& shape, int n)
    -> problem {
    return {.ranks = shape.ranks, .root = 0, .blocks = n, .arrivals = policy.arrivals.times(), .owners = {}};
}

} // namespace detail

PAPCOLL_IMPL void arrival_all_reduce::check(call_shape const& shape) const {
    detail::check_arrivals(arrivals, shape.ranks);
    detail::check_block_bytes(block_bytes);
}
PAPCOLL_IMPL auto arrival_all_reduce::fingerprint() const -> std::optional<std::vector<std::int64_t>> {
    return detail::arrivals_key(arrivals, {static_cast<std::int64_t>(block_bytes.value_or(0))});
}
PAPCOLL_IMPL auto arrival_all_reduce::blocks(call_shape const& shape, link_model const& link) const -> int {
    if (block_bytes)
        return detail::blocks_for(shape.count, std::max<std::size_t>(*block_bytes / shape.element_bytes, 1));
    auto const n =
        detail::theorem_2_blocks(circulant_skips(shape.ranks).rounds() + 1,
                                 detail::volume_time(shape.bytes(), link), detail::round_latency(link));
    auto const most = static_cast<std::int64_t>(std::max<std::size_t>(shape.count, 1));
    auto whole = shape; // one half moves each block four times: two operands and two results
    whole.operation = collective_kind::reduce;
    return static_cast<int>(std::clamp<std::int64_t>(n, 1, std::min(most, detail::most_blocks(whole, 4))));
}
PAPCOLL_IMPL auto arrival_all_reduce::aware(call_shape const& shape, link_model const& link) const -> bool {
    return arrivals.given() && shape.count > 0 &&
           detail::choose_circulant_all_reduce(shape, link) == detail::all_reduce_way::scatter_gather &&
           detail::arrival_scheduler_of(shape, link)
               .aware(detail::problem_of(*this, shape, blocks(shape, link)));
}
PAPCOLL_IMPL auto arrival_all_reduce::plan(call_shape const& shape, link_model const& link) const -> program {
    if (!aware(shape, link)) return circulant{.block_bytes = block_bytes}.plan(shape, link);
    int const n = blocks(shape, link);
    auto share =
        detail::arrival_scheduler_of(shape, link).for_rank(detail::problem_of(*this, shape, n), shape.rank);
    detail::block_layout const layout{ranges_of({shape.count, n}), std::move(share.owners)};
    auto const windows = detail::windows_for(layout.longest() * shape.element_bytes, shape, link);
    plan_writer plan(shape);
    plan.add_spread(share.reduction, share.dissemination, layout, windows);
    return plan.finish();
}

} // namespace papcoll::inline v0
