// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/scheduler/tree/fixed_tree.hpp>

namespace papcoll::inline v0 {

/// Reduces to problem.root through a Fibonacci tree: while a rank combines one message it receives the next.
///
/// Paper 2, sections 7.2 and 7.3: the greedy tree for transfers and combinations that take equally long. It
/// is the Fibonacci tree at the Fibonacci numbers, and optimal for those costs; for others at most twice the
/// optimum (Theorem 19). Rank order, blocks, owners, cost and errors are those of greedy_tree_scheduler.
using fibonacci_tree_scheduler = detail::fixed_tree_scheduler<1>;

} // namespace papcoll::inline v0
