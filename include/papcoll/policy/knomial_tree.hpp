// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/policy.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

/// Reduction, broadcast, all-reduce, gather and scatter through k-nomial trees: ⌈log_k P⌉ rounds, in each of
/// which a rank receives, or sends, up to k − 1 messages. For short data, of which a message costs little
/// beside its latency: a binomial tree (radix 2) has the fewest messages at one rank, a flat one (radix P)
/// has one round.
///
/// Of m bytes, rounds of k − 1 messages of m each in the first three, of which the operators need be
/// associative alone: operands meet in rank order, for any root. In a gather or scatter (P − 1)/P·m at the
/// root, in parts of equal size. There an inner rank of the tree keeps the parts of others, at most half of
/// all, in a buffer of papcoll's while the operation is under way, and waits for those ranks; so a late rank
/// delays parts beside its own. See grow_knomial_tree and knomial_gather_share.
///
///     papcoll::gather(world, &mine, 1, all, 0, papcoll::knomial_tree{.radix = 4});
///
/// Both members must agree on all ranks. A rank computes its share alone, in O(P).
struct knomial_tree {
    /// k, at least 2; default: what is shortest in the model of the measured link.
    std::optional<int> radix = {};
    /// Into how many blocks the data is cut, which follow each other through the tree, but for gathers and
    /// scatters; default: what is shortest in the model, one for most.
    std::optional<int> segments = {};

    static constexpr bool reorders_operands = false;
    /// Policies that compare equal have the same plans: the fingerprint need not be asked.
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool {
        return detail::trees_provide(operation) || operation == collective_kind::gather ||
               operation == collective_kind::scatter;
    }

    [[nodiscard]] auto name() const -> std::string_view { return "knomial_tree"; }
    /// Ranks that know their own size alone have no room for others.
    [[nodiscard]] static auto serves(call_shape const& shape) -> bool { return !shape.is_uneven(); }
    void check(call_shape const& shape) const;
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return std::vector<std::int64_t>{radix.value_or(0), segments.value_or(0)};
    }
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program;

    friend auto operator==(knomial_tree const&, knomial_tree const&) -> bool = default;
};

} // namespace papcoll::inline v0

#ifndef PAPCOLL_SEPARATE_COMPILATION
#include <papcoll/policy/impl/knomial_tree.hpp>
#endif
