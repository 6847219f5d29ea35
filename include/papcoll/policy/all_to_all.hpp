// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/policy.hpp>
#include <papcoll/schedule/block_exchange.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

[[nodiscard]] constexpr auto is_all_to_all(collective_kind operation) -> bool {
    return operation == collective_kind::all_to_all;
}
[[nodiscard]] auto exchange_plan(block_exchange const& how, call_shape const& shape) -> program;

/// A policy of all_to_all without a choice to make.
template <block_exchange::route Way>
struct fixed_exchange {
    static constexpr bool reorders_operands = false;
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool { return is_all_to_all(operation); }

    [[nodiscard]] auto name() const -> std::string_view {
        if (Way == block_exchange::route::direct) return "linear";
        return Way == block_exchange::route::in_steps ? "pairwise" : "bruck";
    }
    /// By way of other ranks go parts of equal size alone.
    [[nodiscard]] static auto serves(call_shape const& shape) -> bool {
        return Way != block_exchange::route::relayed || !shape.is_uneven();
    }
    void check(call_shape const& shape) const {
        if (!serves(shape)) require_equal_parts(shape, "bruck");
    }
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return std::vector<std::int64_t>{};
    }
    [[nodiscard]] auto plan(call_shape const& shape, link_model const&) const -> program {
        bool const all_at_once = Way == block_exchange::route::direct;
        return exchange_plan({Way, all_at_once ? std::max(shape.ranks - 1, 1) : 1}, shape);
    }

    friend auto operator==(fixed_exchange const&, fixed_exchange const&) -> bool = default;
};

} // namespace detail

/// Linear all-to-all: every rank begins all its sends and receives at once, and the network sorts them out.
/// P − 1 messages of one block: the least volume, and the most of them under way.
using all_to_all_linear = detail::fixed_exchange<block_exchange::route::direct>;

/// Pairwise all-to-all: P − 1 steps. In step k a rank sends to the rank k above it and receives from the one
/// k below; both must end before step k + 1. No two messages share a link, but who waits for a late rank in
/// one step is late in the next.
using all_to_all_pairwise = detail::fixed_exchange<block_exchange::route::in_steps>;

/// The modified algorithm of Bruck et al., without its rotations: ⌈log2 P⌉ rounds of one message of up to
/// ⌊P/2⌋ blocks. Fewer messages of more volume, ⌈log2 P⌉/2 times the blocks: for small ones. A second buffer
/// of all blocks.
using all_to_all_bruck = detail::fixed_exchange<block_exchange::route::relayed>;

/// Linear all-to-all with synchronisation: at most `window` sends and as many receives are under way; each
/// that ends makes room for the next of its kind, whatever the others do.
struct all_to_all_linear_sync {
    /// At least 1. Must agree on all ranks.
    int window = 4;

    static constexpr bool reorders_operands = false;
    /// Policies that compare equal have the same plans: the fingerprint need not be asked.
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool {
        return detail::is_all_to_all(operation);
    }

    [[nodiscard]] auto name() const -> std::string_view { return "linear_sync"; }
    void check(call_shape const&) const;
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return std::vector<std::int64_t>{window};
    }
    [[nodiscard]] auto plan(call_shape const& shape, link_model const&) const -> program {
        return detail::exchange_plan({block_exchange::route::direct, window}, shape);
    }

    friend auto operator==(all_to_all_linear_sync const&, all_to_all_linear_sync const&) -> bool = default;
};

} // namespace papcoll::inline v0

#ifndef PAPCOLL_SEPARATE_COMPILATION
#include <papcoll/policy/impl/all_to_all.hpp>
#endif
