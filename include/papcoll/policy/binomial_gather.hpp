// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/policy.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

/// Gather through a binomial tree, for short parts of many ranks: the root receives ⌈log2 P⌉ messages, where
/// `linear` has P − 1. Of m bytes in all: ⌈log2 P⌉ rounds, (P − 1)/P·m at the root.
///
/// An inner rank of the tree keeps the parts of others, at most half of all, in a buffer of papcoll's while
/// the operation is under way, and waits for those ranks; so a late rank delays parts beside its own. See
/// binomial_gather_share.
///
///     papcoll::gather(world, &mine, 1, all, 0, papcoll::binomial_gather{});
struct binomial_gather {
    static constexpr bool reorders_operands = true;
    /// Policies that compare equal have the same plans: the fingerprint need not be asked.
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool {
        return operation == collective_kind::gather;
    }

    [[nodiscard]] auto name() const -> std::string_view { return "binomial_gather"; }
    /// Ranks that know their own size alone have no room for others.
    [[nodiscard]] static auto serves(call_shape const& shape) -> bool { return !shape.is_uneven(); }
    void check(call_shape const& shape) const { detail::require_equal_parts(shape, "binomial_gather"); }
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return std::vector<std::int64_t>{};
    }
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program;

    friend auto operator==(binomial_gather const&, binomial_gather const&) -> bool = default;
};

} // namespace papcoll::inline v0

#ifndef PAPCOLL_SEPARATE_COMPILATION
#include <papcoll/policy/impl/gathers.hpp>
#endif
