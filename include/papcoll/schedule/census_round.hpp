// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

namespace papcoll::inline v0 {

/// One round of a census: what one rank sends while it receives.
struct census_round {
    /// The rank to which it sends.
    int to = 0;
    /// The rank from which it receives.
    int from = 0;
    /// Whether the rank's own contribution x is combined into what it sends; without it the partial result
    /// goes as it is.
    bool own = false;

    friend auto operator==(census_round const&, census_round const&) -> bool = default;
};

} // namespace papcoll::inline v0
