// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/monitor/synchronised_clock.hpp>
#include <papcoll/schedule/problem.hpp>

#include <chrono>
#include <stdexcept>
#include <string>

namespace papcoll::inline v0 {

/// How an arrival monitor works; only `pings` must be the same on all ranks.
struct monitor_options {
    /// Whether to exchange predictions in a background thread, where the transport allows one (with MPI:
    /// MPI_THREAD_MULTIPLE) and the system has one to give; see has_thread(). Without it they move in the
    /// calls to the monitor and while the rank waits for papcoll's operations.
    bool thread = true;
    /// Which part of a computation passes before its prediction is given away, in [0, 1]: later ones are
    /// better, but leave less time to use them.
    double share_at = 0.5;
    /// How long overdue reports are waited for: a rank whose report is overdue gives away what it expects
    /// from earlier iterations so much later, and a rank that waits for predictions asks the others so much
    /// later for what they have. Choose it where computations differ so much from one iteration to the next
    /// that reports alone tell. At least 0.
    ticks patience{0};
    /// How long the thread sleeps before it looks for messages again; four times as long while there is
    /// nothing to expect. Positive, an hour at most.
    ticks poll = std::chrono::microseconds(500);
    /// Messages to and fro between two ranks when the clocks are synchronised.
    int pings = 20;
    /// The clock of this rank.
    local_clock clock = steady_now;
};

/// Throws std::invalid_argument, naming the member and its value, for values that cannot be.
inline void check(monitor_options const& options) {
    if (!(options.share_at >= 0 && options.share_at <= 1))
        throw std::invalid_argument("papcoll: monitor_options.share_at must be in [0, 1], but it is " +
                                    std::to_string(options.share_at));
    detail::require(options.patience >= ticks{0}, "monitor_options.patience must be at least 0",
                    options.patience.count());
    detail::require(options.poll > ticks{0} && options.poll <= std::chrono::hours{1},
                    "monitor_options.poll must be positive and at most an hour, in ns", options.poll.count());
    detail::require(options.pings >= 1, "monitor_options.pings must be at least 1", options.pings);
    if (!options.clock)
        throw std::invalid_argument("papcoll: monitor_options.clock must not be an empty function");
}

} // namespace papcoll::inline v0
