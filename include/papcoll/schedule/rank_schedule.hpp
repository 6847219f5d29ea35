// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/transfer.hpp>

#include <compare>
#include <vector>

namespace papcoll::inline v0 {

/// One end of a transfer, as the rank at the other end sees it.
struct rank_transfer {
    /// When: a send waits for receives of its block in smaller steps.
    step_type step = 0;
    /// The other rank.
    int peer = 0;
    /// Which block.
    int block = 0;

    friend auto operator<=>(rank_transfer const&, rank_transfer const&) = default;
};

/// One rank's share of a schedule, both lists in step order.
///
/// A send depends on the receives of its own block with a strictly smaller step, and on nothing else.
struct rank_schedule {
    /// What the rank sends, in the order of steps.
    std::vector<rank_transfer> sends;
    /// What the rank receives, in the order of steps.
    std::vector<rank_transfer> receives;

    friend auto operator==(rank_schedule const&, rank_schedule const&) -> bool = default;
};

} // namespace papcoll::inline v0
