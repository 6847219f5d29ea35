// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

namespace papcoll::inline v0 {

/// One round of a butterfly: what one rank does with its partial result, and with whom.
struct butterfly_round {
    /// What a rank does in the round.
    enum class work {
        give,     ///< sends it and has none until it gets the result
        take,     ///< receives the peer's and combines
        exchange, ///< sends it, receives the peer's and combines
        tell,     ///< sends the result
        learn     ///< receives the result
    } what;       ///< What the rank does.
    /// The rank with which it does so.
    int peer = 0;

    /// Whether it sends its value.
    [[nodiscard]] constexpr auto sends() const -> bool {
        return what == work::give || what == work::exchange || what == work::tell;
    }
    /// Whether it receives one.
    [[nodiscard]] constexpr auto receives() const -> bool {
        return what == work::take || what == work::exchange || what == work::learn;
    }

    friend auto operator==(butterfly_round const&, butterfly_round const&) -> bool = default;
};

} // namespace papcoll::inline v0
