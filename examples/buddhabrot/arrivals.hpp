// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>

#include <boost/mpi/communicator.hpp>

#include <vector>

namespace buddhabrot {

/// What one rank did in one run of a frame, on the shared clock.
struct timing {
    papcoll::ticks started;
    papcoll::ticks arrived;
    papcoll::ticks left;

    [[nodiscard]] auto computing() const -> papcoll::ticks { return arrived - started; }
};

using run_timing = std::vector<timing>; // one per rank

/// Tells all ranks the timing of all ranks while the next run is already computing.
class timing_exchange {
public:
    explicit timing_exchange(boost::mpi::communicator const& world);
    timing_exchange(timing_exchange const&) = delete;
    auto operator=(timing_exchange const&) -> timing_exchange& = delete;
    ~timing_exchange();

    /// Collective, does not wait.
    void start(timing const& mine);
    /// Lets the exchange proceed; to be called now and then.
    void progress();
    /// Waits for the exchange. The result is the same on all ranks.
    [[nodiscard]] auto finish() -> run_timing const&;

private:
    boost::mpi::communicator m_channel;
    MPI_Request m_request = MPI_REQUEST_NULL;
    timing m_mine{};
    run_timing m_all;
};

/// When each rank will arrive: it has started when it left the previous run, and will compute as long as it
/// did in the frame before. A function of exchanged values alone, so all ranks predict the same.
[[nodiscard]] auto predicted_arrivals(run_timing const& previous_run, run_timing const& frame_before)
    -> std::vector<papcoll::ticks>;

} // namespace buddhabrot
