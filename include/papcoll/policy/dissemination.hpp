// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/policy.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

/// Every rank hears of all others in ⌈log_k P⌉ rounds, in which it sends at most k − 1 messages: a barrier,
/// an all-gather, and an all-reduce of short operands.
///
/// Where P is a product of ⌈log_k P⌉ factors of at most k, an all-reduce exchanges partial results within
/// groups of as many ranks as the factors, at most (k − 1)·m of m bytes in a round (recursive multiplying;
/// with k = 2 recursive doubling). Otherwise each rank gathers the operands of all, (P − 1)·m, with room for
/// P·m, and combines them in rank order. In both operators need be associative alone, and all ranks get the
/// same bits. The all-gather moves every part once to each rank, (P − 1)/P·m of m bytes. A barrier without a
/// given radix goes by a butterfly, or a star, where that is shorter in the model. See
/// write_dissemination_signs, write_butterfly_signs, write_star_signs, write_group_exchange and
/// dissemination_all_gather_scheduler.
///
///     papcoll::all_reduce(world, mine, papcoll::dissemination{.radix = 4});
struct dissemination {
    /// k, at least 2; from P on every rank exchanges with every other at once. Default: what is shortest in
    /// the model of the measured link. Must agree on all ranks.
    std::optional<int> radix = {};

    /// The most ranks of an all-reduce.
    static constexpr int most_operands = 1000;
    /// The most bytes of their operands in all.
    static constexpr std::size_t most_bytes = std::size_t(16) << 20;

    static constexpr bool reorders_operands = false;
    /// Policies that compare equal have the same plans: the fingerprint need not be asked.
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool {
        return operation == collective_kind::barrier || operation == collective_kind::all_gather ||
               operation == collective_kind::all_reduce;
    }

    [[nodiscard]] auto name() const -> std::string_view { return "dissemination"; }
    /// All-reduces whose operands are not too many to be gathered, whether they are or not.
    [[nodiscard]] static auto serves(call_shape const& shape) -> bool {
        return shape.operation != collective_kind::all_reduce ||
               (shape.ranks <= most_operands &&
                shape.bytes() <= most_bytes / static_cast<std::size_t>(shape.ranks));
    }
    void check(call_shape const& shape) const;
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return std::vector<std::int64_t>{radix.value_or(0)};
    }
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program;

    friend auto operator==(dissemination const&, dissemination const&) -> bool = default;
};

} // namespace papcoll::inline v0

#ifndef PAPCOLL_SEPARATE_COMPILATION
#include <papcoll/policy/impl/dissemination.hpp>
#endif
