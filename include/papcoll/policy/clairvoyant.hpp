// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/policy/default_bitset.hpp>
#include <papcoll/policy/policy.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

/// The schedule that a Clairvoyant reduction follows.
struct clairvoyant_choice {
    /// How many segments the data is cut into.
    int segments;
    /// How long a round of one segment takes.
    ticks round;
    /// This rank's part of the schedule.
    rank_schedule share;
    /// How many rounds follow the arrival of the last rank.
    step_type rounds_after_last_arrival;
    bool uses_arrivals; ///< false: the schedule of ranks that arrive together
};

/// Clairvoyant reduction: greedy scheduling of segments from known arrival times, by which early ranks
/// combine among themselves while the late ones are still away (Proficz and Ocetkiewicz, Improving
/// Clairvoyant, 2020).
///
/// `arrivals`, `round` and `segments` must agree on all ranks. Operators must be commutative.
/// About N + ⌈log2 P⌉ rounds after the last arrival for N segments; wrong arrivals cost time, never
/// correctness. A plan takes 32 bytes for each segment that the rank sends or receives: N each about, where
/// all arrive together, and up to P·N at a rank that takes in what the others have one after the other.
template <class Bits = detail::default_bitset>
struct basic_clairvoyant {
    /// When the ranks arrive; none given: all together.
    arrival_source arrivals = {};
    /// The time of one round, in which each rank sends and receives one segment; default: from the measured
    /// link.
    std::optional<ticks> round = {};
    /// Into how many segments the data is cut; default: from the measured link.
    std::optional<int> segments = {};

    static constexpr bool reorders_operands = true;
    /// Policies that compare equal have the same plans: the fingerprint need not be asked.
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool {
        return operation == collective_kind::reduce;
    }

    [[nodiscard]] auto name() const -> std::string_view { return "clairvoyant"; }
    void check(call_shape const& shape) const;
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>>;
    /// What a call of this shape will do on this link; the same on all ranks but for the share.
    [[nodiscard]] auto choose(call_shape const& shape, link_model const& link) const -> clairvoyant_choice;
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program;

    friend auto operator==(basic_clairvoyant const&, basic_clairvoyant const&) -> bool = default;
};

/// With the widest instruction set that is compiled for: by the including file, or by that of
/// <papcoll/impl.hpp> where PAPCOLL_SEPARATE_COMPILATION is defined.
using clairvoyant = basic_clairvoyant<>;

} // namespace papcoll::inline v0

#ifndef PAPCOLL_SEPARATE_COMPILATION
#include <papcoll/policy/impl/clairvoyant.hpp>
#endif
