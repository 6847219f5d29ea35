// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/policy.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace papcoll::inline v0::detail {

/// A scheduler as a policy: the all-gather in which each rank's part moves as a whole. There is nothing to
/// choose, and the scheduler has the name. It is looked at where plans are made, not here.
template <class Scheduler>
struct whole_parts {
    static constexpr bool reorders_operands = true;
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool {
        return operation == collective_kind::all_gather;
    }

    [[nodiscard]] auto name() const -> std::string_view;
    void check(call_shape const&) const {}
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return std::vector<std::int64_t>{};
    }
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program;

    friend auto operator==(whole_parts const&, whole_parts const&) -> bool = default;
};

} // namespace papcoll::inline v0::detail

#ifndef PAPCOLL_SEPARATE_COMPILATION
#include <papcoll/policy/impl/all_gathers.hpp>
#endif
