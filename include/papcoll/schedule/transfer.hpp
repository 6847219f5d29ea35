// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <compare>
#include <cstdint>

namespace papcoll::inline v0 {

/// Steps order the transfers of a schedule; they need not be dense (idle rounds leave gaps).
using step_type = std::int64_t;

/// How a schedule treats a block that is sent.
enum class schedule_kind {
    reduction,    ///< A send gives the block away; the next receive stores it, later ones are combined.
    dissemination ///< A send copies the block.
};

/// One block moving between two ranks: the global view of a schedule.
/// Transfers of equal (step, from, to) travel as one message.
struct transfer {
    /// When: a send waits for receives of its block in smaller steps.
    step_type step = 0;
    /// The rank that sends.
    int from = 0;
    /// The rank that receives.
    int to = 0;
    /// Which block.
    int block = 0;

    friend auto operator<=>(transfer const&, transfer const&) = default;
};

} // namespace papcoll::inline v0
