// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/call_shape.hpp>
#include <papcoll/program/program.hpp>
#include <papcoll/schedule/block_partition.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace papcoll::inline v0 {

/// What one rank's program holds at most, in bytes, where the policy itself chooses into how many blocks the
/// data is cut: 128 kB, and 100 B for each rank. More blocks than that allows would save less than 1 % of the
/// time of long data, and nothing of short.
[[nodiscard]] constexpr auto plan_limit(int ranks) -> std::size_t {
    return 128'000 + std::size_t(100) * static_cast<std::size_t>(ranks);
}

namespace detail {

/// What is left for one half of the program: an all-reduce has two.
[[nodiscard]] constexpr auto half_limit(call_shape const& shape) -> std::size_t {
    constexpr std::size_t beside = 4'000;
    std::size_t const halves = shape.operation == collective_kind::all_reduce ? 2 : 1;
    return (plan_limit(shape.ranks) - beside) / halves;
}

/// What a program holds, in bytes.
struct program_bytes {
    static constexpr std::size_t use = sizeof(region); ///< of a block in a message
    static constexpr std::size_t message =
        sizeof(program::instruction) + 2 * sizeof(program::index); ///< and what it waits for
    static constexpr std::size_t combination = message + 3 * sizeof(region);
};

/// The most blocks of a half of a program in which a rank sends and receives each of them `messages` times
/// together, and combines all but the first.
[[nodiscard]] constexpr auto most_blocks(call_shape const& shape, int messages = 2) -> std::int64_t {
    bool const combines = shape.operation == collective_kind::reduce ||
                          shape.operation == collective_kind::all_reduce || is_prefix(shape.operation) ||
                          shape.operation == collective_kind::reduce_scatter;
    auto const each = static_cast<std::size_t>(messages) * (program_bytes::message + program_bytes::use) +
                      (combines ? static_cast<std::size_t>(messages - 1) * program_bytes::combination : 0);
    return static_cast<std::int64_t>(std::max<std::size_t>(half_limit(shape) / each, 1));
}

} // namespace detail

} // namespace papcoll::inline v0
