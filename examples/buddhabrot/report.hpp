// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "arrivals.hpp"

namespace buddhabrot {

/// On stderr, over the line that the next call or row overwrites.
void show_progress(std::size_t done, std::size_t of);
void print_header(int ranks, std::size_t bytes);
/// Frames are numbered from 0 here and from 1 on in print.
void print_row(std::size_t frame, frame_timing const& timing);

/// Medians over the frames from the second one on; in the first one nothing is known about the arrivals.
/// `errors` are the mean errors of the predictions, `told` says whether papcoll got these.
void print_summary(std::vector<frame_timing> const& frames, std::vector<papcoll::ticks> const& errors,
                   bool told);

/// Draws when each rank arrived and left, for both methods, in the frame of median last delay of papcoll.
/// Throws std::runtime_error if the file cannot be written.
void write_timeline(std::filesystem::path const& file, std::vector<frame_timing> const& frames);

} // namespace buddhabrot
