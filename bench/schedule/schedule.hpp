// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <vector>

/// papcoll-bench schedule: how long schedules take to compute; no MPI. Most are benchmarks of Google's, which
/// register themselves.
namespace bench {

/// All searches of Clairvoyant, over all sizes.
void register_clairvoyant();
struct table_1_settings {
    int instances = 250; ///< of each size
    int largest = 512;
    std::string keep; ///< a file of what has been measured
};
/// Paper 1, Table 1.
void print_table_1(table_1_settings const& s);
/// What each search holds at a time, for these numbers of ranks and segments.
void print_memory(std::vector<int> const& sizes);
/// The ranks whose circulant schedules take longest.
void print_worst_ranks(std::vector<int> const& sizes);
/// Throws std::logic_error unless what is compared gives the same trees.
void check_trees();

} // namespace bench
