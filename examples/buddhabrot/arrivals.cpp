// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "arrivals.hpp"

#include <algorithm>

namespace buddhabrot {

timing_exchange::timing_exchange(boost::mpi::communicator const& world)
    : m_channel(world, boost::mpi::comm_duplicate)
    , m_all(static_cast<std::size_t>(world.size())) {}

timing_exchange::~timing_exchange() { MPI_Wait(&m_request, MPI_STATUS_IGNORE); }

void timing_exchange::start(timing const& mine) {
    m_mine = mine;
    MPI_Iallgather(&m_mine, sizeof m_mine, MPI_BYTE, m_all.data(), sizeof m_mine, MPI_BYTE, m_channel,
                   &m_request);
}

void timing_exchange::progress() {
    int done = 0;
    MPI_Test(&m_request, &done, MPI_STATUS_IGNORE);
}

auto timing_exchange::finish() -> run_timing const& {
    MPI_Wait(&m_request, MPI_STATUS_IGNORE);
    return m_all;
}

auto predicted_arrivals(run_timing const& previous_run, run_timing const& frame_before)
    -> std::vector<papcoll::ticks> {
    std::vector<papcoll::ticks> arrivals(previous_run.size());
    std::transform(
        previous_run.begin(), previous_run.end(), frame_before.begin(), arrivals.begin(),
        [](timing const& previous, timing const& before) { return previous.left + before.computing(); });
    return arrivals;
}

} // namespace buddhabrot
