// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <mpi.h>

#include <cstdint>
#include <limits>

#include "clock.hpp"

namespace tracer {

/// At `local` of a rank's clock, rank 0's showed local + offset, up to round_trip / 2. Nanoseconds.
struct clock_reading {
    std::int64_t local = 0;
    std::int64_t offset = 0;
    std::int64_t round_trip = 0;
};

namespace detail {

constexpr int questions = 40;

inline void answer(MPI_Comm comm, int peer, local_clock const& clock) {
    for (int i = 0; i < questions; ++i) {
        PMPI_Recv(nullptr, 0, MPI_BYTE, peer, 0, comm, MPI_STATUS_IGNORE);
        std::int64_t time = clock.now();
        PMPI_Send(&time, 1, MPI_INT64_T, peer, 0, comm);
    }
}

inline auto ask(MPI_Comm comm, local_clock const& clock) -> clock_reading {
    clock_reading best{0, 0, std::numeric_limits<std::int64_t>::max()};
    for (int i = 0; i < questions; ++i) {
        std::int64_t theirs = 0;
        auto const asked = clock.now();
        PMPI_Send(nullptr, 0, MPI_BYTE, 0, 0, comm);
        PMPI_Recv(&theirs, 1, MPI_INT64_T, 0, 0, comm, MPI_STATUS_IGNORE);
        auto const round_trip = clock.now() - asked;
        auto const middle = asked + round_trip / 2;
        if (round_trip < best.round_trip) best = {middle, theirs - middle, round_trip};
    }
    return best;
}

} // namespace detail

/// Collective over `comm`: each rank in turn asks rank 0 for its time; of the answers the one with the
/// shortest round trip counts and is taken to be of its middle. 40 round trips per rank, one rank after the
/// other.
inline auto synchronise(MPI_Comm comm, local_clock const& clock) -> clock_reading {
    int rank = 0;
    int ranks = 1;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    if (rank > 0) return detail::ask(comm, clock);
    for (int peer = 1; peer < ranks; ++peer) detail::answer(comm, peer, clock);
    return {clock.now(), 0, 0};
}

} // namespace tracer
