// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace buddhabrot {

struct options {
    std::size_t width = 512;
    int frames = 12;
    std::size_t samples = 2'000'000;
    int max_iterations = 5000;
    std::filesystem::path output = ".";
    std::uint64_t seed = 1;
    bool automatic = false; ///< sum by papcoll's default policy, not by Clairvoyant
};

/// Reads the command line. Without a result the program is to end with `exit_code`; help and complaints are
/// printed if `speaks` is true, as it should be on one rank.
[[nodiscard]] auto parse(int argc, char** argv, bool speaks, int& exit_code) -> std::optional<options>;

} // namespace buddhabrot
