// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/whole_parts.hpp>

namespace papcoll::inline v0 {

struct neighbor_exchange_scheduler;

/// Neighbour exchange: all-gather in P/2 steps of two ranks' parts, at an even number of ranks; the ring at
/// an odd one, as in Open MPI. Arrivals do not enter.
using neighbor_exchange = detail::whole_parts<neighbor_exchange_scheduler>;

} // namespace papcoll::inline v0
