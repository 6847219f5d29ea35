// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/members.hpp>
#include <papcoll/policy/policy.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace papcoll::inline v0::detail {

/// A scheduler as a policy, whose tree depends on the number of ranks and the root alone. The scheduler has
/// the name; it is looked at where plans are made, not here.
template <class Scheduler, bool KeepsRankOrder = true>
struct fixed_tree {
    /// Into how many blocks the data is cut, which follow each other through the tree; default: what is
    /// shortest in the model of the measured link.
    std::optional<int> segments = {};

    static constexpr bool reorders_operands = !KeepsRankOrder;
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool { return trees_provide(operation); }

    [[nodiscard]] auto name() const -> std::string_view;
    void check(call_shape const&) const { check_segments(segments); }
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return std::vector<std::int64_t>{segments.value_or(0)};
    }
    /// Into how many blocks a call of this shape is cut: that of the reduction, or of the broadcast where
    /// there is no other.
    [[nodiscard]] auto blocks(call_shape const& shape, link_model const& link) const -> int;
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program;

    friend auto operator==(fixed_tree const&, fixed_tree const&) -> bool = default;
};

} // namespace papcoll::inline v0::detail

#ifndef PAPCOLL_SEPARATE_COMPILATION
#include <papcoll/policy/impl/trees.hpp>
#endif
