// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace papcoll::inline v0 {

/// The collectives, as policies tell them apart.
enum class collective_kind {
    broadcast,
    reduce,
    all_reduce,
    gather,         ///< also gatherv
    all_gather,     ///< also all_gatherv
    reduce_scatter, ///< also reduce_scatter_block
    all_to_all,     ///< also all_to_allv
    scatter,        ///< also scatterv
    scan,
    exscan,
    barrier
};

namespace detail {

/// By the values of collective_kind.
inline constexpr std::array<std::string_view, 11> collective_names{
    "broadcast",  "reduce",  "all_reduce", "gather", "all_gather", "reduce_scatter",
    "all_to_all", "scatter", "scan",       "exscan", "barrier"};

} // namespace detail

/// The name of a collective, such as "all_reduce".
[[nodiscard]] constexpr auto to_string(collective_kind kind) -> std::string_view {
    return detail::collective_names[static_cast<std::size_t>(kind)];
}
/// The kind of that name; none: there is no such collective.
[[nodiscard]] constexpr auto collective_of(std::string_view name) -> std::optional<collective_kind> {
    for (std::size_t i = 0; i < detail::collective_names.size(); ++i)
        if (detail::collective_names[i] == name) return static_cast<collective_kind>(i);
    return std::nullopt;
}

namespace detail {

/// What trees can do: a value comes up to the root, or goes down from it.
[[nodiscard]] constexpr auto trees_provide(collective_kind operation) -> bool {
    return operation == collective_kind::broadcast || operation == collective_kind::reduce ||
           operation == collective_kind::all_reduce;
}

/// What schedules of blocks can do: all ranks have or get a block, or each has or gets some of them.
[[nodiscard]] constexpr auto blocks_provide(collective_kind operation) -> bool {
    return trees_provide(operation) || operation == collective_kind::all_gather ||
           operation == collective_kind::reduce_scatter;
}
/// Each rank gets the combination of what the ranks before it give.
[[nodiscard]] constexpr auto is_prefix(collective_kind operation) -> bool {
    return operation == collective_kind::scan || operation == collective_kind::exscan;
}

} // namespace detail

} // namespace papcoll::inline v0
