// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>

#include <boost/mpi/communicator.hpp>

namespace buddhabrot {

/// A clock that reads the same on all ranks, up to half of the fastest round trip to rank 0. It starts at 0.
class shared_clock {
public:
    /// Collective. Each rank in turn asks rank 0 for its time; of several answers the one with the shortest
    /// round trip, t0 to t1, counts, and is taken to be of the time (t0 + t1) / 2.
    explicit shared_clock(boost::mpi::communicator const& world);

    [[nodiscard]] auto now() const -> papcoll::ticks;

private:
    papcoll::ticks m_offset{0};
};

} // namespace buddhabrot
