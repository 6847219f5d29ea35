// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/combining_forms.hpp>
#include <papcoll/collective/explained.hpp>
#include <papcoll/policy/collective_kind.hpp>

namespace papcoll::inline v0 {

/// Combines element by element the `in` of all ranks before each rank and leaves the result in its `out`: an
/// exclusive scan. The `out` of rank 0 stays as it is; where the result is returned rank 0 gets T(), or a
/// vector of as many.
///
///     exscan(comm, in, n, out, op[, policy])        n elements
///     exscan(comm, inplace(values), n, op[, policy])
///     exscan(comm, inplace(value), op[, policy])
///     exscan(comm, in, out, op[, policy])           single values, or std::vectors of one size
///     exscan(comm, in, op[, policy])                the same; returns the result
///
/// Must agree on all ranks: the count, the policy with all its members, and what the operator computes.
/// Operands are combined in the order of the ranks, so the operator need not commute.
///
/// Cost for m bytes: with `prefix_doubling` ⌈log2(P − 1) + log2(4/3)⌉ rounds of m bytes, with `prefix_chain`
/// n + P − 2 rounds of m/n bytes for n blocks.
///
/// Throws std::invalid_argument, before any message of the operation, for null data, overlapping buffers and
/// members of the policy that cannot be; with agreed checks on all ranks if it does on any, or if they
/// disagree. An exception of the operator is rethrown where it was thrown, after the communication is
/// complete; ranks that miss a result for it throw missing_value_error. Throws mpi_error where MPI fails.
///
/// Values without an MPI datatype travel serialized, see reduce for which they are.
///
///     std::size_t const begin = papcoll::exscan(world, mine.size(), std::plus<>());
inline constexpr detail::explained<detail::combining_function<collective_kind::exscan, true>> exscan{};

/// exscan that returns at once; the buffers must stay until the request has ended.
///
/// papcoll must be attached to `comm`, else it throws std::logic_error; the policy `native` does without.
/// Without MPI_THREAD_MULTIPLE the operation progresses inside papcoll's calls alone: do not wait by other
/// means for a rank that waits for this request, or call progress() meanwhile. See request.
///
///     auto request = papcoll::iexscan(world, mine, n, before, std::plus<>());
inline constexpr detail::explained<detail::combining_function<collective_kind::exscan, false>> iexscan{};

/// plan_exscan<T>(comm, n, op[, policy]) prepares exscans of n elements of type T, which `run(in, out)` or
/// `run(inplace(values))` makes. Collective, on an attached `comm` (see attach). Throws as exscan does.
///
///     auto sum_before = papcoll::plan_exscan<int>(world, n, std::plus<>());
///     sum_before.run(mine, before);
template <class T>
inline constexpr detail::plan_combining_function<collective_kind::exscan, T> plan_exscan{};

} // namespace papcoll::inline v0
