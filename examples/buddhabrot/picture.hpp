// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <filesystem>

#include "orbit.hpp"

namespace buddhabrot {

/// Writes the densities as a PNG: each channel has a hue, brightness grows with the root of the counts.
/// Throws std::runtime_error if the file cannot be written.
void write_png(std::filesystem::path const& file, density const& image);

} // namespace buddhabrot
