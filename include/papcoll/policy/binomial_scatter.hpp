// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/policy.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

/// Scatter through a binomial tree, for short parts of many ranks: the root sends ⌈log2 P⌉ messages, where
/// `linear` sends P − 1. Of m bytes in all: ⌈log2 P⌉ rounds, (P − 1)/P·m at the root. The parts are of equal
/// size.
///
/// An inner rank of the tree keeps the parts of others, at most half of all, in a buffer of papcoll's and
/// passes them on; so a late rank delays parts beside its own. It is binomial_gather_share from its end to
/// its beginning.
///
///     papcoll::scatter(world, all, &mine, 1, 0, papcoll::binomial_scatter{});
struct binomial_scatter {
    static constexpr bool reorders_operands = true;
    /// Policies that compare equal have the same plans: the fingerprint need not be asked.
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool {
        return operation == collective_kind::scatter;
    }

    [[nodiscard]] auto name() const -> std::string_view { return "binomial_scatter"; }
    /// Ranks that know their own size alone have no room for others.
    [[nodiscard]] static auto serves(call_shape const& shape) -> bool { return !shape.is_uneven(); }
    void check(call_shape const& shape) const { detail::require_equal_parts(shape, "binomial_scatter"); }
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return std::vector<std::int64_t>{};
    }
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program;

    friend auto operator==(binomial_scatter const&, binomial_scatter const&) -> bool = default;
};

} // namespace papcoll::inline v0

#ifndef PAPCOLL_SEPARATE_COMPILATION
#include <papcoll/policy/impl/gathers.hpp>
#endif
