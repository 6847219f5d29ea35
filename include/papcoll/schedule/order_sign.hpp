// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>

#include <vector>

namespace papcoll::inline v0 {

/// One end of a message without data, which says that a transfer has ended, so that another may begin. With
/// the rank itself as peer nothing is sent: its next send waits for its last receive.
struct order_sign {
    /// Sent after what the rank receives in this step; received before what it sends in this step.
    step_type step = 0;
    /// The other rank.
    int peer = 0;
    /// Whether this rank sends it.
    bool sends = false;

    friend auto operator==(order_sign const&, order_sign const&) -> bool = default;
};

/// One rank's share of a schedule in which some transfers wait for others, whatever their blocks. Steps
/// number all transfers, of all ranks.
struct ordered_schedule {
    /// What the rank sends and receives.
    rank_schedule share;
    /// In the order of steps, of one step those that are received first.
    std::vector<order_sign> signs;
};

} // namespace papcoll::inline v0
