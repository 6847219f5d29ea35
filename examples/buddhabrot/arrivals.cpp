// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "arrivals.hpp"

#include <chrono>
#include <type_traits>

namespace buddhabrot {

static_assert(std::is_trivially_copyable_v<timing>, "it travels as bytes");

auto exchange(boost::mpi::communicator const& world, timing const& mine) -> run_timing {
    run_timing all(static_cast<std::size_t>(world.size()));
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, world);
    return all;
}

auto predicted_arrivals(std::span<frame_timing const> frames_before) -> papcoll::arrival_source {
    if (frames_before.empty()) return {};
    std::vector<papcoll::ticks> arrivals(frames_before[0][mpi_reduce].size());
    for (auto const& frame : frames_before)
        for (auto const& run : frame)
            for (std::size_t rank = 0; rank < run.size(); ++rank) arrivals[rank] += run[rank].computing();
    auto const runs = static_cast<papcoll::ticks::rep>(frames_before.size() * methods);
    for (auto& time : arrivals) time /= runs;
    return arrivals;
}

auto mean_error(std::span<papcoll::ticks const> predicted, run_timing const& run) -> papcoll::ticks {
    papcoll::ticks sum{0};
    for (std::size_t rank = 0; rank < run.size(); ++rank)
        sum += std::chrono::abs(predicted[rank] - run[rank].computing());
    return sum / static_cast<papcoll::ticks::rep>(run.size());
}

} // namespace buddhabrot
