// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/whole_parts.hpp>
#include <papcoll/scheduler/ring.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

/// The parallel ring: all-gather in P − 1 steps of one rank's part between neighbours, the usual algorithm
/// for large data. Arrivals do not enter; with a late rank all end P − 1 steps after it.
struct ring {
    static constexpr bool reorders_operands = true;
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool {
        return operation == collective_kind::all_gather;
    }

    [[nodiscard]] auto name() const -> std::string_view { return "ring"; }
    void check(call_shape const&) const {}
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return std::vector<std::int64_t>{};
    }
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program {
        return detail::whole_parts_plan(ring_scheduler{}, shape, link);
    }

    friend auto operator==(ring const&, ring const&) -> bool = default;
};

} // namespace papcoll::inline v0
