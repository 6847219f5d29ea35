// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/combining_forms.hpp>
#include <papcoll/collective/explained.hpp>
#include <papcoll/policy/collective_kind.hpp>

namespace papcoll::inline v0 {

/// Combines the `in` of all ranks element by element and leaves the result, the same to the bit, in `out` on
/// all of them.
///
///     all_reduce(comm, in, n, out, op[, policy])        n elements
///     all_reduce(comm, inplace(values), n, op[, policy])
///     all_reduce(comm, in, out, op[, policy])           single values, or std::vectors of one size
///     all_reduce(comm, in, op[, policy])                the same; returns the result
///
/// Must agree on all ranks: the count, the policy with all its members, what the operator computes, and
/// whether its type says that it commutes (a lambda does not, std::plus does) and that it is exactly
/// associative (std::plus on integers is; see is_exactly_associative).
///
/// The results have the same bits on all ranks, the signs and payloads of NaNs among them, where all ranks
/// run the same program on processors of one kind. Two cases are in other hands: with `native` the MPI
/// library decides, and a census (see below) relies on is_exactly_associative, also for NaNs.
///
/// Cost with `circulant` for m bytes: 2·⌈log2 P⌉ rounds that move 2·(P − 1)/P·m in all (a reduce-scatter and
/// an all-gather), or, when that is shorter, ⌊log2 P⌋ rounds of partial results (a butterfly; two rounds more
/// unless P is a power of two), or ⌈log2 P⌉ of them (a census), where the operator is exactly associative. In
/// memory about m bytes of blocks beyond the user's, 2m for a butterfly.
///
/// Throws std::invalid_argument, before any message of the operation, for null data, overlapping buffers and
/// members of the policy that cannot be; with agreed checks on all ranks if it does on any, or if they
/// disagree. An exception of the operator is rethrown where it was thrown, after the communication is
/// complete; ranks that miss a result for it throw missing_value_error. A message of another length than
/// expected throws std::length_error where it arrives. Results are then unspecified. Throws mpi_error where
/// MPI fails.
///
/// Values that must be serialized are reduced to rank 0 and broadcast from there, see reduce.
///
///     double const residual = papcoll::all_reduce(world, mine, std::plus<>(), papcoll::circulant{});
inline constexpr detail::explained<detail::combining_function<collective_kind::all_reduce, true>>
    all_reduce{};

/// all_reduce that returns at once; the buffers must stay until the request has ended.
///
/// papcoll must be attached to `comm`, else it throws std::logic_error; the policy `native` does without.
/// Without MPI_THREAD_MULTIPLE the operation progresses inside papcoll's calls alone: do not wait by other
/// means for a rank that waits for this request, or call progress() meanwhile. See request.
inline constexpr detail::explained<detail::combining_function<collective_kind::all_reduce, false>>
    iall_reduce{};

/// plan_all_reduce<T>(comm, n, op[, policy]) prepares all-reduces of n elements of type T, which `run(in,
/// out)` or `run(inplace(values))` makes. Collective, on an attached `comm` (see attach). Throws as
/// all_reduce does.
template <class T>
inline constexpr detail::plan_combining_function<collective_kind::all_reduce, T> plan_all_reduce{};

} // namespace papcoll::inline v0
