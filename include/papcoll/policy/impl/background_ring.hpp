// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/impl.hpp>
#include <papcoll/policy/background_ring.hpp>
#include <papcoll/policy/impl/whole_parts.hpp>
#include <papcoll/policy/members.hpp>
#include <papcoll/scheduler/background_ring.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace papcoll::inline v0 {

PAPCOLL_IMPL void background_ring::check(call_shape const& shape) const {
    detail::check_arrivals(arrivals, shape.ranks);
    detail::check_positive("block_time", block_time);
}
PAPCOLL_IMPL auto background_ring::fingerprint() const -> std::optional<std::vector<std::int64_t>> {
    return detail::arrivals_key(arrivals, {block_time.value_or(ticks{0}).count()});
}
PAPCOLL_IMPL auto background_ring::plan(call_shape const& shape, link_model const& link) const -> program {
    background_ring_scheduler const algorithm{detail::block_time_of(block_time, shape, link)};
    return detail::whole_parts_plan(algorithm, shape, link, arrivals.times());
}

} // namespace papcoll::inline v0
