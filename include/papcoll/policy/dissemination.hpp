// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/policy.hpp>
#include <papcoll/schedule/problem.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

/// A barrier of ⌈log_k P⌉ rounds, in which each rank sends k − 1 empty messages. See
/// write_dissemination_barrier.
struct dissemination {
    /// k, at least 2. Must agree on all ranks.
    int radix = 2;

    static constexpr bool reorders_operands = false;
    /// Policies that compare equal have the same plans: the fingerprint need not be asked.
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool {
        return operation == collective_kind::barrier;
    }

    [[nodiscard]] auto name() const -> std::string_view { return "dissemination"; }
    void check(call_shape const&) const { detail::require(radix >= 2, "radix must be at least 2", radix); }
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return std::vector<std::int64_t>{radix};
    }
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program;

    friend auto operator==(dissemination const&, dissemination const&) -> bool = default;
};

} // namespace papcoll::inline v0

#ifndef PAPCOLL_SEPARATE_COMPILATION
#include <papcoll/policy/impl/dissemination.hpp>
#endif
