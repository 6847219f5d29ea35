// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/tree/fixed_tree.hpp>

namespace papcoll::inline v0 {

struct bine_tree_scheduler;

/// Reduction, broadcast and all-reduce through Bine trees: ⌈log2 P⌉ rounds of whole messages, as many as a
/// binomial tree has, to ranks that are nearer (De Sensi et al., SC 2025, arXiv 2508.17311). For clusters in
/// which groups of hosts, whose ranks are neighbours, share links that are slower than those within a group:
/// up to a third less data passes them. The model does not know such links, so `automatic` never takes it.
///
/// Operators must commute: distances count modulo P.
///
/// `segments` must agree on all ranks. A rank computes its share alone, in O(P log P).
using bine_tree = detail::fixed_tree<bine_tree_scheduler, false>;

} // namespace papcoll::inline v0
