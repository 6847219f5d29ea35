// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace papcoll::inline v0 {

/// The collectives, as policies tell them apart.
enum class collective_kind { broadcast, reduce, all_reduce, gather, all_gather, reduce_scatter, all_to_all };

namespace detail {

/// By the values of collective_kind.
inline constexpr std::array<std::string_view, 7> collective_names{
    "broadcast", "reduce", "all_reduce", "gather", "all_gather", "reduce_scatter", "all_to_all"};

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

} // namespace detail

} // namespace papcoll::inline v0
