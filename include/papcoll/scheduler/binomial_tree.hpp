// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/scheduler/tree/fixed_tree.hpp>

namespace papcoll::inline v0 {

/// Reduces to problem.root through a binomial tree: ⌈log2 P⌉ rounds, in each of which the ranks that still
/// hold something halve in number.
///
/// Paper 2, sections 7.1 and 7.3: the greedy tree for min(transfer, compute) = 0. It is the binomial tree at
/// powers of two, and optimal for those costs; for others at most 1 + min/max times the optimum
/// (Theorem 18). Rank order, blocks, owners, cost and errors are those of greedy_tree_scheduler.
using binomial_tree_scheduler = detail::fixed_tree_scheduler<0>;

} // namespace papcoll::inline v0
