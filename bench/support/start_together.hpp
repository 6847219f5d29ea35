// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>

#include <mpi.h>

#ifndef SMPI_H
#include <papcoll/monitor/harmonize.hpp>
#include <papcoll/transport/mpi.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#endif

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>

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

/// A time in the near future, the same on all ranks.
inline auto agree_on_start(MPI_Comm comm) -> ticks {
    MPI_Barrier(comm);
    MPI_Barrier(comm);
    auto start = static_cast<std::int64_t>((now() + std::chrono::milliseconds(4)).count());
    MPI_Bcast(&start, 1, MPI_INT64_T, 0, comm);
    return ticks{start};
}

/// Nobody is late in simulated time.
inline void report_lateness(MPI_Comm) {}

#else

inline constexpr bool simulated = false;

/// Whether all ranks run on one kernel, whose monotonic clock they then share: on one machine, or on the
/// emulated cluster. Collective.
inline auto on_one_kernel(MPI_Comm comm) -> bool {
    std::string boot_id;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot_id;
    boot_id.resize(36);
    auto first = boot_id;
    MPI_Bcast(first.data(), 36, MPI_CHAR, 0, comm);
    int same = first == boot_id && first.front() != '\0' ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, comm);
    return same == 1;
}

/// The time that all ranks share, and how late this one was. On one kernel its clock, which no measurement
/// could improve; else synchronised clocks, re-estimated every two seconds, always between two measurements.
///
/// PAPCOLL_BENCH_CLOCKS=apart (to try this on one machine) sets rank r's clock r seconds ahead, lets it drift
/// by −50, 0 or 50 ppm, and synchronises.
class shared_time {
public:
    static auto instance() -> shared_time& {
        static shared_time time;
        return time;
    }

    [[nodiscard]] auto clock() const -> papcoll::synchronised_clock const& { return m_clock; }

    /// Collective over `comm`, always the same ranks.
    void prepare(MPI_Comm comm) {
        if (!m_prepared) choose(comm);
        if (!m_synchronised) return;
        int due = m_clock.local_now() - m_last > std::chrono::seconds(2) ? 1 : 0;
        MPI_Bcast(&due, 1, MPI_INT, 0, comm);
        if (due == 1) synchronise(comm);
    }
    void record(ticks late) {
        m_latest = std::max(m_latest, late);
        m_sum += late;
        ++m_waits;
    }
    /// Collective; rank 0 prints a line of comment.
    void report(MPI_Comm comm) const {
        std::array<double, 3> worst{microseconds(m_latest),
                                    m_waits > 0 ? microseconds(m_sum) / static_cast<double>(m_waits) : 0,
                                    m_synchronised ? microseconds(m_largest_error) : 0};
        int rank = 0;
        MPI_Comm_rank(comm, &rank);
        MPI_Allreduce(MPI_IN_PLACE, worst.data(), 3, MPI_DOUBLE, MPI_MAX, comm);
        if (rank != 0) return;
        std::printf(
            "# ranks came at most %.0f us after the agreed times, the latest one %.0f us on average; ",
            worst[0], worst[1]);
        if (m_synchronised)
            std::printf("clocks synchronised to %.0f us or better\n", worst[2]);
        else
            std::puts("one kernel's clock");
    }

private:
    static auto microseconds(ticks t) -> double { return static_cast<double>(t.count()) * 1e-3; }

    void choose(MPI_Comm comm) {
        m_prepared = true;
        char const* const mode = std::getenv("PAPCOLL_BENCH_CLOCKS");
        bool const apart = mode != nullptr && std::string(mode) == "apart";
        if (mode != nullptr && !apart)
            throw std::invalid_argument("PAPCOLL_BENCH_CLOCKS can only be 'apart'");
        m_synchronised = !on_one_kernel(comm) || apart;
        if (apart) {
            int rank = 0;
            MPI_Comm_rank(comm, &rank);
            double const drift = (rank % 3 - 1) * 50e-6;
            auto const origin = papcoll::steady_now();
            m_clock = papcoll::synchronised_clock([=] {
                auto const real = papcoll::steady_now();
                auto const gained = drift * static_cast<double>((real - origin).count());
                return real + rank * ticks(std::chrono::seconds(1)) + ticks{std::llround(gained)};
            });
        }
        if (m_synchronised) synchronise(comm);
    }
    void synchronise(MPI_Comm comm) {
        if (m_last > ticks{0}) m_largest_error = std::max(m_largest_error, m_clock.error());
        m_clock.synchronise(comm);
        m_last = m_clock.local_now();
        m_largest_error = std::max(m_largest_error, m_clock.error());
    }

    papcoll::synchronised_clock m_clock{};
    bool m_prepared = false;
    bool m_synchronised = false;
    ticks m_last{0}; // synchronised, on the local clock
    ticks m_largest_error{0};
    ticks m_latest{0};
    ticks m_sum{0};
    std::int64_t m_waits = 0;
};

/// Times of different ranks can be compared after their first agree_on_start.
inline auto now() -> ticks { return shared_time::instance().clock().now(); }

/// Sleeps, so that ranks that are still "computing" leave the processors to the others, then polls the last
/// bit.
inline void wait_until(ticks when) {
    auto& time = shared_time::instance();
    time.record(papcoll::wait_until(time.clock(), when));
}

/// A time in the near future, the same on all ranks. Collective over `comm`, always the same ranks. After the
/// barrier nothing of the last operation is left in the network, and the agreement finds all ranks awake.
inline auto agree_on_start(MPI_Comm comm) -> ticks {
    shared_time::instance().prepare(comm);
    MPI_Barrier(comm);
    return papcoll::agree_on_start(comm, shared_time::instance().clock());
}

/// Collective: how late ranks were at the times they waited for, as a comment on rank 0.
inline void report_lateness(MPI_Comm comm) { shared_time::instance().report(comm); }

#endif

} // namespace bench
