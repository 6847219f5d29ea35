// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/policy/policy.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace papcoll::inline v0 {

/// All-gather in waves: parts of ranks that arrive together are disseminated together by circulant graphs,
/// early ones while later ranks still compute. One late rank costs little more than the time of its own part,
/// where rings take P − 1 times as much; all together it is `circulant`. See background_circulant_scheduler.
///
/// As for background_ring the gain before the call needs open_all_gather, wrong arrivals cost time alone, and
/// arrivals must be the same on all ranks. Without arrivals it is `circulant`.
struct background_circulant {
    /// When each rank arrives; none given: all together.
    arrival_source arrivals = {};
    /// How long one rank's part takes from rank to rank; default: from the measured link. Must agree on all
    /// ranks.
    std::optional<ticks> block_time = {};
    /// Into how many blocks each rank's part is cut, for the waves that are pipelined; default: n = √((q − 1)
    /// · block time / latency), q = ⌈log2 P⌉, of at least 16 KiB, and no more than 12000 of all ranks unless
    /// it is one each: a plan takes about 81 bytes for each. Must agree on all ranks.
    std::optional<int> segments = {};

    static constexpr bool reorders_operands = true;
    /// Policies that compare equal have the same plans: the fingerprint need not be asked.
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool {
        return operation == collective_kind::all_gather;
    }

    [[nodiscard]] auto name() const -> std::string_view { return "background_circulant"; }
    void check(call_shape const& shape) const;
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>>;
    /// Into how many blocks each rank's part is cut.
    [[nodiscard]] auto blocks(call_shape const& shape, link_model const& link) const -> int;
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program;

    friend auto operator==(background_circulant const&, background_circulant const&) -> bool = default;
};

} // namespace papcoll::inline v0

#ifndef PAPCOLL_SEPARATE_COMPILATION
#include <papcoll/policy/impl/all_gathers.hpp>
#endif
