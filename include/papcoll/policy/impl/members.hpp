// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/impl.hpp>
#include <papcoll/policy/members.hpp>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace papcoll::inline v0::detail {

PAPCOLL_IMPL void check_arrivals(arrival_source const& arrivals, int ranks) {
    auto const& answer = arrivals.answer();
    if (answer == nullptr || answer->ranks() == static_cast<std::size_t>(ranks)) return;
    throw std::invalid_argument("papcoll: arrivals must have one entry per rank (" + std::to_string(ranks) +
                                "), but have " + std::to_string(answer->ranks()));
}
PAPCOLL_IMPL void check_segments(std::optional<int> segments) {
    if (segments && *segments < 1)
        throw std::invalid_argument("papcoll: segments must be at least 1, but are " +
                                    std::to_string(*segments));
}
PAPCOLL_IMPL void check_block_bytes(std::optional<std::size_t> block_bytes) {
    if (block_bytes && *block_bytes == 0)
        throw std::invalid_argument("papcoll: block_bytes must be at least 1, but are 0");
}
PAPCOLL_IMPL void check_positive(char const* member, std::optional<ticks> time) {
    if (time && *time <= ticks{0})
        throw std::invalid_argument("papcoll: " + std::string(member) + " must be positive, but is " +
                                    std::to_string(time->count()) + " ns");
}
PAPCOLL_IMPL auto arrivals_key(arrival_source const& arrivals, std::initializer_list<std::int64_t> others)
    -> std::vector<std::int64_t> {
    std::vector<std::int64_t> key(others);
    key.push_back(arrivals.given() ? 1 : 0);
    for (auto const time : arrivals.times()) key.push_back(time.count());
    return key;
}

} // namespace papcoll::inline v0::detail
