// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/tree/fixed_tree.hpp>

namespace papcoll::inline v0 {

struct fibonacci_tree_scheduler;

/// Reduction, broadcast and all-reduce through Fibonacci trees: while a rank combines one message it receives
/// the next. The shortest where combining takes as long as a transfer, and at most twice the shortest for any
/// other costs (Canon and Antoniu, Scheduling Associative Reductions, 2012, sections 7.2 and 7.3,
/// Theorem 19).
///
/// Operators need be associative alone: subtrees cover contiguous ranks and operands meet in rank order, for
/// any root.
///
/// `segments` must agree on all ranks. A rank computes its share alone, in O(P).
using fibonacci_tree = detail::fixed_tree<fibonacci_tree_scheduler>;

} // namespace papcoll::inline v0
