// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/whole_parts.hpp>

namespace papcoll::inline v0 {

struct ring_scheduler;

/// The parallel ring: all-gather in P − 1 steps of one rank's part between neighbours, the usual algorithm
/// for large data. Arrivals do not enter; with a late rank all end P − 1 steps after it.
using ring = detail::whole_parts<ring_scheduler>;

} // namespace papcoll::inline v0
