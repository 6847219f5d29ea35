// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/impl.hpp>
#include <papcoll/policy/circulant_choice.hpp>
#include <papcoll/policy/members.hpp>
#include <papcoll/policy/plan_size.hpp>
#include <papcoll/policy/prefix.hpp>
#include <papcoll/program/prefix.hpp>
#include <papcoll/program/program_builder.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace papcoll::inline v0 {

namespace detail {

[[nodiscard]] inline auto prefix_of(call_shape const& shape) -> prefix_kind {
    return shape.operation == collective_kind::scan ? prefix_kind::inclusive : prefix_kind::exclusive;
}
/// The program, its messages cut where it then keeps within plan_limit().
[[nodiscard]] inline auto finish_within_limit(program_builder& to, int ranks) -> program {
    constexpr std::size_t beside = 4'000;
    return to.finish(plan_limit(ranks) - beside);
}

} // namespace detail

PAPCOLL_IMPL auto prefix_doubling::plan(call_shape const& shape, link_model const& link) const -> program {
    program_builder to(shape.in_place);
    to.use(detail::windows_of_dependent_rounds(shape.bytes(), shape, link));
    write_prefix_doubling(to, detail::prefix_of(shape), shape.ranks, shape.rank, shape.count);
    return detail::finish_within_limit(to, shape.ranks);
}

PAPCOLL_IMPL void prefix_chain::check(call_shape const&) const { detail::check_block_bytes(block_bytes); }
/// Of n blocks of m bytes: (n + P − 2)(α + β·m/n), least at n = √((P − 2)·β·m/α).
PAPCOLL_IMPL auto prefix_chain::blocks(call_shape const& shape, link_model const& link) const -> int {
    auto const most = std::min(detail::most_blocks(shape, 3), std::int64_t(1) << 20);
    auto const elements = static_cast<std::int64_t>(std::min(shape.count, std::size_t(1) << 20));
    auto const room = std::max<std::int64_t>(std::min(most, elements), 1);
    if (block_bytes) {
        auto const wanted =
            detail::blocks_for(shape.count, std::max<std::size_t>(*block_bytes / shape.element_bytes, 1));
        return static_cast<int>(std::min<std::int64_t>(wanted, room));
    }
    double const alpha = std::max(detail::round_latency(link), 1.0);
    double const steps = std::max(shape.ranks - 2, 0);
    double const best = std::sqrt(steps * detail::volume_time(shape.bytes(), link) / alpha);
    return static_cast<int>(std::clamp(std::floor(best), 1.0, static_cast<double>(room)));
}
PAPCOLL_IMPL auto prefix_chain::plan(call_shape const& shape, link_model const& link) const -> program {
    program_builder to(shape.in_place);
    int const n = blocks(shape, link);
    to.use(detail::windows_for(shape.bytes() / static_cast<std::size_t>(n), shape, link));
    write_prefix_chain(to, detail::prefix_of(shape), shape.ranks, shape.rank, shape.count, n);
    return detail::finish_within_limit(to, shape.ranks);
}

} // namespace papcoll::inline v0
