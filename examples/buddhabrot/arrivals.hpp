// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/schedule/problem.hpp>

#include <boost/mpi/communicator.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace buddhabrot {

/// What one rank did in one run of a frame, on the shared clock: it computed until it arrived at the sum, and
/// left that.
struct timing {
    papcoll::ticks started;
    papcoll::ticks arrived;
    papcoll::ticks left;

    [[nodiscard]] auto computing() const -> papcoll::ticks { return arrived - started; }
};

using run_timing = std::vector<timing>; // one per rank

/// How the images of a run are summed.
enum method : std::size_t { mpi_reduce, by_papcoll };
inline constexpr std::size_t methods = 2;

/// The timing of one frame, computed and summed once by each method.
using frame_timing = std::array<run_timing, methods>;

/// Tells all ranks the timing of all.
[[nodiscard]] auto exchange(boost::mpi::communicator const& world, timing const& mine) -> run_timing;

/// When each rank will arrive, counted from the common start of a run: it will compute as long as on average
/// in all runs of `frames_before`. A function of exchanged integers alone, so all ranks predict the same to
/// the bit. Nothing is known (all together) without frames before.
[[nodiscard]] auto predicted_arrivals(std::span<frame_timing const> frames_before) -> papcoll::arrival_source;

/// The mean over the ranks of how far they came before or after the predicted time.
[[nodiscard]] auto mean_error(std::span<papcoll::ticks const> predicted, run_timing const& run)
    -> papcoll::ticks;

} // namespace buddhabrot
