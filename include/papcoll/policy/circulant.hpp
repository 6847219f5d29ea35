// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/policy.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

/// Träff's circulant graphs, for every collective but gather and all_to_all: the fewest rounds and the least
/// volume that one-ported ranks can do with, at every number of ranks (Träff, (Poly)Logarithmic Time
/// Construction of Round-optimal n-Block Broadcast Schedules, 2022).
///
/// With q = ⌈log2 P⌉ rounds to fill the pipeline, m bytes and n blocks:
///
/// - broadcast, reduce: n − 1 + q rounds; (n − 1 + q)·m/n bytes pass a link
/// - all_gather and reduce_scatter of ranks alike: q rounds; (P − 1)/P·m
/// - of uneven sizes: q rounds, or n − 1 + q where that is less time, for n blocks of each long part, whose m
/// bytes cost (n − 1 + q)·m/n at most; short parts stay whole
/// - all_reduce: 2q rounds; 2·(P − 1)/P·m
/// - all_reduce of short operands: ⌊log2 P⌋ rounds, two more unless P is a power of two; m in each (a
/// butterfly)
/// - or q rounds; q·m, where the operator is exactly associative (a census)
/// - reduce_scatter of short data: ⌊log2 P⌋ rounds, two more and twice the bytes unless P is a power of two
/// (recursive halving); all_reduce likewise
///
/// Arrivals do not enter the schedules. Operators must be commutative. A rank computes its share alone, in
/// O(n + log P) (of uneven sizes: O(P log P + N) for N blocks of all ranks), and by default N is so small
/// that the plan keeps within plan_limit(P).
struct circulant {
    /// The size of a block; default: that of the shortest time on the measured link (paper 3, Theorem 2).
    /// `block_bytes` must agree on all ranks.
    std::optional<std::size_t> block_bytes = {};

    static constexpr bool reorders_operands = true;
    /// Policies that compare equal have the same plans: the fingerprint need not be asked.
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool {
        return detail::blocks_provide(operation);
    }

    [[nodiscard]] auto name() const -> std::string_view { return "circulant"; }
    void check(call_shape const&) const;
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>>;
    /// Into how many blocks the data is cut, or the long ones among the parts of the ranks.
    [[nodiscard]] auto blocks(call_shape const& shape, link_model const& link) const -> int;
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program;

    friend auto operator==(circulant const&, circulant const&) -> bool = default;
};

} // namespace papcoll::inline v0

#ifndef PAPCOLL_SEPARATE_COMPILATION
#include <papcoll/policy/impl/circulant.hpp>
#endif
