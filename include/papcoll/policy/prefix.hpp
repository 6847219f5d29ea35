// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/policy.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

/// Scan and exscan in the fewest rounds known, for short data: ⌈log2 P⌉ of a scan, ⌈log2(P − 1) + log2(4/3)⌉
/// of an exscan, each of one message of all m bytes. Operands are combined in the order of the ranks. See
/// write_prefix_doubling.
struct prefix_doubling {
    static constexpr bool reorders_operands = false;
    /// Policies that compare equal have the same plans: the fingerprint need not be asked.
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool { return detail::is_prefix(operation); }

    [[nodiscard]] auto name() const -> std::string_view { return "prefix_doubling"; }
    void check(call_shape const&) const {}
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return std::vector<std::int64_t>{};
    }
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program;

    friend auto operator==(prefix_doubling const&, prefix_doubling const&) -> bool = default;
};

/// Scan and exscan from rank to rank, for long data: n blocks in n + P − 2 rounds, so that each link carries
/// m bytes once. Operands are combined in the order of the ranks. See write_prefix_chain.
struct prefix_chain {
    /// Of each block; default: what the link asks for.
    std::optional<std::size_t> block_bytes = {};

    static constexpr bool reorders_operands = false;
    /// Policies that compare equal have the same plans: the fingerprint need not be asked.
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool { return detail::is_prefix(operation); }

    [[nodiscard]] auto name() const -> std::string_view { return "prefix_chain"; }
    void check(call_shape const& shape) const;
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return std::vector<std::int64_t>{static_cast<std::int64_t>(block_bytes.value_or(0))};
    }
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program;
    /// Into how many blocks the data is cut.
    [[nodiscard]] auto blocks(call_shape const& shape, link_model const& link) const -> int;

    friend auto operator==(prefix_chain const&, prefix_chain const&) -> bool = default;
};

} // namespace papcoll::inline v0

#ifndef PAPCOLL_SEPARATE_COMPILATION
#include <papcoll/policy/impl/prefix.hpp>
#endif
