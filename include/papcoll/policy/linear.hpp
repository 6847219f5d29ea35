// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/policy.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

/// The plain gather, in which every rank sends its part to the root at once, the plain scatter, in which the
/// root sends each rank its part at once, and the all-gather that
/// broadcasts the result (gather to rank 0, then circulant broadcast): twice the volume of a ring at the
/// root. Arrivals do not enter, yet up to 65 ranks nobody waits for a later one in the gather; of more the
/// root awaits 64 at a time, in the order of ranks.
struct linear {
    static constexpr bool reorders_operands = true;
    /// Policies that compare equal have the same plans: the fingerprint need not be asked.
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool {
        return operation == collective_kind::gather || operation == collective_kind::scatter ||
               operation == collective_kind::all_gather;
    }

    [[nodiscard]] auto name() const -> std::string_view { return "linear"; }
    void check(call_shape const&) const {}
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return std::vector<std::int64_t>{};
    }
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program;

    friend auto operator==(linear const&, linear const&) -> bool = default;
};

} // namespace papcoll::inline v0

#ifndef PAPCOLL_SEPARATE_COMPILATION
#include <papcoll/policy/impl/gathers.hpp>
#endif
