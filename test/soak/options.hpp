// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace soak {

struct options {
    std::uint64_t calls = 1000;
    std::uint64_t seed = 1;
    std::uint64_t from = 0; ///< calls before its batch are drawn, not made
    bool multiple = false;  ///< MPI_THREAD_MULTIPLE, else MPI_THREAD_SINGLE
    std::size_t max_count = 300'000;
    bool help = false;
    bool list = false;        ///< print what is drawn, make none of it
    std::string only;         ///< an operation; empty: all
    bool under_way = false;   ///< monitors, communicators and blocking calls of MPI beside requests
    double patience = 60;     ///< seconds without progress after which the program ends
    double memory_bound = 32; ///< MiB of growth after the first tenth of the calls; 0: any
    // What the tests of this program want to be found:
    std::optional<std::uint64_t> wrong; ///< this call's result, or of the first later one that has elements
    std::optional<std::uint64_t> stall; ///< rank 0 does not begin this call
    std::optional<std::uint64_t> leak;  ///< from this call on
};

/// Throws std::invalid_argument for what it does not understand.
[[nodiscard]] auto parse(int argc, char const* const* argv) -> options;
/// What parse understands.
[[nodiscard]] auto usage() -> std::string;

} // namespace soak
