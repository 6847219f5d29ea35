// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/learned_calls.hpp>
#include <papcoll/context/attach.hpp>
#include <papcoll/policy/tuning_table.hpp>

namespace papcoll::inline v0 {

/// What the calls on `comm` have learned so far, see attach_options::learn: an entry for each shape that
/// trials have decided, empty where papcoll does not learn. Local, and the same on all ranks that have made
/// the same calls. Written to a file it is a tuning table for the next run:
///
///     if (world.rank() == 0) std::ofstream("tuned.json") << papcoll::learned(world).text();
///
/// Of shapes that differ in more than collective and bytes (root, sizes, operator) the table keeps each, and
/// `automatic` takes the nearest, of equal ones the first.
///
/// Throws std::logic_error where papcoll is not attached to `comm`. Not while another thread calls
/// collectives on it.
template <communicator Comm>
[[nodiscard]] auto learned(Comm&& comm) -> tuning_table {
    return detail::learned_calls::of(context_of(comm)->learned()).table();
}

} // namespace papcoll::inline v0
