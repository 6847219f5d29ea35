// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/monitor/detail/clock_operation.hpp>
#include <papcoll/transport/mpi.hpp>

#include "clock.hpp"

namespace tracer {

/// Collective over all ranks of `transport`: the library's synchronisation along a binomial tree, ⌈log2 P⌉
/// rounds of 40 round trips, without an engine or anything else of papcoll's.
inline auto synchronise(papcoll::mpi_transport& transport, local_clock const& clock) -> clock_reading {
    papcoll::local_clock const now = [&clock] { return papcoll::ticks{clock.now()}; };
    papcoll::offset_track track;
    papcoll::detail::clock_operation<papcoll::mpi_transport> questions(transport, now, track, {.pings = 40});
    while (!questions.finished())
        if (!questions.advance(true)) transport.idle();
    auto const local = now();
    auto const offset = track.at(local);
    return {local.count(), offset.middle().count(), 2 * offset.error().count()};
}

} // namespace tracer
