// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/whole_parts.hpp>
#include <papcoll/scheduler/neighbor_exchange.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

/// Neighbour exchange: all-gather in P/2 steps of two ranks' parts, at an even number of ranks; the ring at
/// an odd one, as in Open MPI. Arrivals do not enter.
struct neighbor_exchange {
    static constexpr bool reorders_operands = true;
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool {
        return operation == collective_kind::all_gather;
    }

    [[nodiscard]] auto name() const -> std::string_view { return "neighbor_exchange"; }
    void check(call_shape const&) const {}
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return std::vector<std::int64_t>{};
    }
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program {
        return detail::whole_parts_plan(neighbor_exchange_scheduler{}, shape, link);
    }

    friend auto operator==(neighbor_exchange const&, neighbor_exchange const&) -> bool = default;
};

} // namespace papcoll::inline v0
