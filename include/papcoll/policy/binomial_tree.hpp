// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/tree/fixed_tree.hpp>

namespace papcoll::inline v0 {

struct binomial_tree_scheduler;

/// Reduction, broadcast and all-reduce through binomial trees: ⌈log2 P⌉ rounds of whole messages, the fewest
/// possible for a value that cannot be cut when combining costs nothing (Canon and Antoniu, Scheduling
/// Associative Reductions, 2012, sections 7.1 and 7.3).
///
/// Some rank receives ⌈log2 P⌉ messages per block, so cutting gains nothing and the default is not to; long
/// data that can be cut is faster by `circulant`. It is `knomial_tree` with radix 2. Operators need be
/// associative alone: subtrees cover contiguous ranks and operands meet in rank order, for any root.
///
/// `segments` must agree on all ranks. A rank computes its share alone, in O(P).
using binomial_tree = detail::fixed_tree<binomial_tree_scheduler>;

} // namespace papcoll::inline v0
