// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis.hpp>
#include <papcoll/monitor.hpp>
#include <papcoll/papcoll.hpp>
#include <papcoll/threads.hpp>

#include <boost/mpi.hpp>

#include <chrono>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

// What the documentation's snippets leave out, because every reader has it: a communicator, data, and
// arrivals.
namespace docs {

inline boost::mpi::communicator world;
inline MPI_Comm comm = MPI_COMM_WORLD;
inline std::size_t const n = 1000;
inline std::vector<float> const mine(n);
inline std::vector<float> sum(n);
inline std::vector<int> sizes(8);
inline std::vector<papcoll::ticks> when;
inline int const root = 0;

inline void compute() {}
inline void compute_a_part() {}
inline auto is_converged() -> bool { return true; }

} // namespace docs
