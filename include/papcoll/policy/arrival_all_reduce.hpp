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

/// All-reduce by ranks that know who comes last: the others combine what they have meanwhile, and the last
/// one exchanges its data for the result, block by block, while that spreads (arrival_all_reduce_scheduler).
///
/// With q = ⌈log2 P⌉, m bytes and n blocks: n + q rounds of m/n bytes after the last arrival, where
/// arrival-blind all-reduces move 2·(P − 1)/P·m. Where the arrivals are too close for that, when none are
/// given, and for data so short that only latencies count, it does what `circulant` does.
///
/// `arrivals` and `block_bytes` must agree on all ranks; wrong arrivals cost time, never correctness.
/// Operators must be commutative. A rank computes its share alone, in O(P log P + n P).
struct arrival_all_reduce {
    /// When the ranks arrive; none given: all together.
    arrival_source arrivals = {};
    /// The size of a block; default: that of the shortest time on the measured link.
    std::optional<std::size_t> block_bytes = {};

    static constexpr bool reorders_operands = true;
    /// Policies that compare equal have the same plans: the fingerprint need not be asked.
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool {
        return operation == collective_kind::all_reduce;
    }

    [[nodiscard]] auto name() const -> std::string_view { return "arrival_all_reduce"; }
    void check(call_shape const& shape) const;
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>>;
    /// Into how many blocks the exchange cuts the data: (n + q)·(α + β·m/n) is smallest at n = √(q·β·m/α).
    [[nodiscard]] auto blocks(call_shape const& shape, link_model const& link) const -> int;
    /// Whether a call of this shape uses the arrivals; otherwise it is one of `circulant`.
    [[nodiscard]] auto aware(call_shape const& shape, link_model const& link) const -> bool;
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program;

    friend auto operator==(arrival_all_reduce const&, arrival_all_reduce const&) -> bool = default;
};

} // namespace papcoll::inline v0

#ifndef PAPCOLL_SEPARATE_COMPILATION
#include <papcoll/policy/impl/arrival_all_reduce.hpp>
#endif
