// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/combining_forms.hpp>
#include <papcoll/collective/explained.hpp>
#include <papcoll/policy/collective_kind.hpp>

namespace papcoll::inline v0 {

/// Combines element by element the `in` of all ranks up to each rank, its own the last, and leaves the result
/// in its `out`: an inclusive scan.
///
///     scan(comm, in, n, out, op[, policy])        n elements
///     scan(comm, inplace(values), n, op[, policy])
///     scan(comm, inplace(value), op[, policy])
///     scan(comm, in, out, op[, policy])           single values, or std::vectors of one size
///     scan(comm, in, op[, policy])                the same; returns the result
///
/// Must agree on all ranks: the count, the policy with all its members, and what the operator computes.
/// Operands are combined in the order of the ranks, so the operator need not commute.
///
/// Cost for m bytes: with `prefix_doubling` ⌈log2 P⌉ rounds of m bytes, with `prefix_chain` n + P − 2 rounds
/// of m/n bytes for n blocks.
///
/// Throws std::invalid_argument, before any message of the operation, for null data, overlapping buffers and
/// members of the policy that cannot be; with agreed checks on all ranks if it does on any, or if they
/// disagree. An exception of the operator is rethrown where it was thrown, after the communication is
/// complete; ranks that miss a result for it throw missing_value_error. Throws mpi_error where MPI fails.
///
/// Values without an MPI datatype travel serialized, see reduce for which they are.
///
///     std::size_t const end = papcoll::scan(world, mine.size(), std::plus<>());
inline constexpr detail::explained<detail::combining_function<collective_kind::scan, true>> scan{};

/// scan that returns at once; the buffers must stay until the request has ended.
///
/// papcoll must be attached to `comm`, else it throws std::logic_error; the policy `native` does without.
/// Without MPI_THREAD_MULTIPLE the operation progresses inside papcoll's calls alone: do not wait by other
/// means for a rank that waits for this request, or call progress() meanwhile. See request.
///
///     auto request = papcoll::iscan(world, mine, n, sums, std::plus<>());
inline constexpr detail::explained<detail::combining_function<collective_kind::scan, false>> iscan{};

/// plan_scan<T>(comm, n, op[, policy]) prepares scans of n elements of type T, which `run(in, out)` or
/// `run(inplace(values))` makes. Collective, on an attached `comm` (see attach). Throws as scan does.
///
///     auto sum_up_to = papcoll::plan_scan<int>(world, n, std::plus<>());
///     sum_up_to.run(mine, sums);
template <class T>
inline constexpr detail::plan_combining_function<collective_kind::scan, T> plan_scan{};

} // namespace papcoll::inline v0
