// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace bench {

/// The buffers of one size on the ranks of a communicator: `n` elements, of which each rank has `part` where
/// they are divided.
struct buffers {
    buffers(MPI_Comm comm, std::size_t bytes);

    MPI_Comm comm;
    std::size_t n, part;
    std::vector<float> in, out;
    std::vector<std::size_t> sizes;
    std::vector<int> counts;
};

/// One collective as a user calls it, by default: of the MPI library, and of papcoll.
struct collective {
    std::string name;
    std::function<void(buffers&)> mpi, papcoll;
};
[[nodiscard]] auto all_collectives() -> std::vector<collective>;

/// Microseconds of one call of `calls` in a row, of the slowest rank; from rest, where all leave two barriers
/// together.
[[nodiscard]] auto time_of(std::function<void(buffers&)> const& call, buffers& b, int calls) -> double;

/// What rank 0 of `comm` says, on all of its ranks.
[[nodiscard]] auto agreed(MPI_Comm comm, bool of_rank_0) -> bool;

} // namespace bench
