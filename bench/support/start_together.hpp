// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>

#include <mpi.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <thread>

namespace bench {

using papcoll::ticks;

#ifdef SMPI_H

inline constexpr bool simulated = true;

/// Under SimGrid all ranks live in one process and share the simulated clock.
inline auto now() -> ticks { return ticks{static_cast<ticks::rep>(std::llround(MPI_Wtime() * 1e9))}; }

/// Lets simulated time pass; to the microsecond, since SimGrid's sleep takes whole ones.
inline void wait_until(ticks when) {
    if (auto const left = when - now(); left > ticks{0})
        usleep(static_cast<unsigned>((left.count() + 999) / 1000));
}

#else

inline constexpr bool simulated = false;

/// The hosts of an emulated cluster share one kernel and so one monotonic clock: times of different ranks can
/// be compared. On a real cluster they cannot; main() refuses to run there.
inline auto now() -> ticks {
    return std::chrono::duration_cast<ticks>(std::chrono::steady_clock::now().time_since_epoch());
}

/// Sleeps, so that ranks that are still "computing" leave the processors to the others, then polls the last
/// bit.
inline void wait_until(ticks when) {
    constexpr ticks polled = std::chrono::microseconds(150);
    if (auto const left = when - now(); left > polled) std::this_thread::sleep_for(left - polled);
    while (now() < when) std::this_thread::yield();
}

#endif

/// A time in the near future, the same on all ranks. Two barriers: the second finds all ranks awake, and what
/// the last operation left in the network is gone.
inline auto agree_on_start(MPI_Comm comm) -> ticks {
    MPI_Barrier(comm);
    MPI_Barrier(comm);
    auto start = static_cast<std::int64_t>((now() + std::chrono::milliseconds(4)).count());
    MPI_Bcast(&start, 1, MPI_INT64_T, 0, comm);
    return ticks{start};
}

} // namespace bench
