// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/message_program.hpp>
#include <papcoll/policy/call_shape.hpp>
#include <papcoll/schedule/block_partition.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace papcoll::inline v0 {

/// What one rank's plan holds at most, in bytes, where the policy itself chooses into how many blocks the
/// data is cut: 64 kB, and 100 B for each rank. More blocks than that allows would save less than 1 % of the
/// time of long data, and nothing of short.
[[nodiscard]] constexpr auto plan_limit(int ranks) -> std::size_t {
    return 64'000 + std::size_t(100) * static_cast<std::size_t>(ranks);
}

namespace detail {

/// What is left for the lists of one stage: an all-reduce has two.
[[nodiscard]] constexpr auto stage_limit(call_shape const& shape) -> std::size_t {
    constexpr std::size_t beside = 4'000;
    std::size_t const stages = shape.operation == collective_kind::all_reduce ? 2 : 1;
    return (plan_limit(shape.ranks) - beside) / stages;
}

/// What the lists of a program hold, in bytes.
struct list_bytes {
    static constexpr std::size_t block = sizeof(block_range) + 1; // and the bit that tells its owner
    static constexpr std::size_t use = sizeof(message_program::block_use);
    static constexpr std::size_t message = sizeof(message_program::message);
};

/// The most blocks of a stage in which a rank sends and receives each of them `messages` times together.
[[nodiscard]] constexpr auto most_blocks(call_shape const& shape, int messages = 2) -> std::int64_t {
    auto const each =
        list_bytes::block + static_cast<std::size_t>(messages) * (list_bytes::message + list_bytes::use);
    return static_cast<std::int64_t>(std::max<std::size_t>(stage_limit(shape) / each, 1));
}

} // namespace detail

} // namespace papcoll::inline v0
