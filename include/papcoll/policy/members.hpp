// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

// What policies with the same members check and tell of them.
namespace papcoll::inline v0::detail {

/// Throws std::invalid_argument unless `arrivals` are absent or one per rank; does not wait for them.
void check_arrivals(arrival_source const& arrivals, int ranks);
/// Throws std::invalid_argument for less than one segment.
void check_segments(std::optional<int> segments);
/// Throws std::invalid_argument for blocks of 0 bytes.
void check_block_bytes(std::optional<std::size_t> block_bytes);
/// Throws std::invalid_argument unless a time that is given is positive.
void check_positive(char const* member, std::optional<ticks> time);
/// Numbers that tell arrivals and other members from others.
[[nodiscard]] auto arrivals_key(arrival_source const& arrivals, std::initializer_list<std::int64_t> others)
    -> std::vector<std::int64_t>;

} // namespace papcoll::inline v0::detail

#ifndef PAPCOLL_SEPARATE_COMPILATION
#include <papcoll/policy/impl/members.hpp>
#endif
