// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/policy/policy.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

/// Background Disseminated Ring (BDR): all-gather in which the ranks that arrive early send their parts
/// directly while the last ones are still missing, and a ring does the rest (Proficz, All-gather algorithms
/// resilient to imbalanced process arrival patterns, 2021, section 3.1).
///
/// The early parts reach ranks that have not arrived, so somebody must take part for them: begin with
/// open_all_gather before the computation. A plain all_gather is correct, too, but on each rank nothing
/// happens before its call, and little is gained. Wrong arrivals cost time, never correctness; without
/// arrivals it is the ring.
struct background_ring {
    /// When each rank will have its data; the same on all ranks. Or an arrival_monitor, which knows it while
    /// the ranks compute.
    arrival_source arrivals = {};
    /// How long one rank's part takes from rank to rank; default: from the measured link. Must agree on all
    /// ranks. Rather too long than too short: what a pre-step does not finish the next one waits for.
    std::optional<ticks> block_time = {};

    static constexpr bool reorders_operands = true;
    /// Policies that compare equal have the same plans: the fingerprint need not be asked.
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool {
        return operation == collective_kind::all_gather;
    }

    [[nodiscard]] auto name() const -> std::string_view { return "background_ring"; }
    void check(call_shape const& shape) const;
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>>;
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program;

    friend auto operator==(background_ring const&, background_ring const&) -> bool = default;
};

} // namespace papcoll::inline v0

#ifndef PAPCOLL_SEPARATE_COMPILATION
#include <papcoll/policy/impl/all_gathers.hpp>
#endif
