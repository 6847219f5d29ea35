// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/all_reduce.hpp>
#include <papcoll/operators/cost.hpp>
#include <papcoll/operators/operators.hpp>
#include <papcoll/policy/circulant.hpp>

#include <algorithm>
#include <utility>

namespace papcoll::inline v0 {

/// What `op` takes per element of type T, in nanoseconds, measured on every rank (see measure_combine_cost):
/// the longest counts, and all ranks get the same number. For members of policies, which must agree:
///
///     papcoll::greedy_tree const tree{
///         .compute_per_element = papcoll::agreed_combine_cost<matrix>(world, multiply)};
///
/// Collective: an all-reduce of one number. Throws what the operator throws, before any message.
template <class T, communicator Comm, reduction_operator<T> Op>
[[nodiscard]] auto agreed_combine_cost(Comm&& comm, Op op, T const& sample = T()) -> double {
    auto const longest = commutative([](double a, double b) { return std::max(a, b); });
    return all_reduce(comm, measure_combine_cost<T>(std::move(op), sample), longest, circulant{});
}

} // namespace papcoll::inline v0
