// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/policy/policy.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

/// Sorted linear synchronised gather: the root asks one rank after the other for its part, in the order of
/// their arrivals (ties by rank). As all-gather, to rank 0 and followed by a circulant broadcast, this is
/// BSLB (Proficz, All-gather algorithms resilient to imbalanced process arrival patterns, 2021, section 3.2),
/// and begun by open_gather, with the root receiving in the background, BSLS.
///
/// One flow after the other reaches the root, which spares networks that punish many of them at once; in the
/// model of one-ported ranks the all-gather moves about twice the volume of the ring at the root. A rank that
/// comes later than those behind it in the order delays them. Arrivals must be the same on all ranks.
struct sorted_linear {
    /// When each rank arrives; none given: all together.
    arrival_source arrivals = {};
    /// How much of a rank's part goes ahead to tell that the rest follows. Must agree on all ranks.
    std::size_t first_bytes = 1024;

    static constexpr bool reorders_operands = true;
    /// Policies that compare equal have the same plans: the fingerprint need not be asked.
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool {
        return operation == collective_kind::gather || operation == collective_kind::all_gather;
    }

    [[nodiscard]] auto name() const -> std::string_view { return "sorted_linear"; }
    void check(call_shape const& shape) const;
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>>;
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program;

    friend auto operator==(sorted_linear const&, sorted_linear const&) -> bool = default;
};

} // namespace papcoll::inline v0

#ifndef PAPCOLL_SEPARATE_COMPILATION
#include <papcoll/policy/impl/gathers.hpp>
#endif
