// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/explained.hpp>
#include <papcoll/collective/forms.hpp>
#include <papcoll/collective/plan.hpp>
#include <papcoll/operators/operators.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The forms of Boost.MPI's all_reduce, each with a policy behind.
template <bool Blocking>
struct all_reduce_function : collective_forms<collective_kind::all_reduce, Blocking> {
    using typename collective_forms<collective_kind::all_reduce, Blocking>::result;

    /// n elements each.
    template <communicator Comm, class T, reduction_operator<T> Op,
              collective_policy<collective_kind::all_reduce, T, Op> Policy = automatic>
    auto operator()(Comm&& comm, T const* in, std::size_t n, std::type_identity_t<T>* out, Op op,
                    Policy const& policy = {}) const -> result {
        return this->make(comm, this->template describe<Policy>(in, n, out, std::move(op)), policy);
    }
    /// In place.
    template <
        communicator Comm, in_place_array V, reduction_operator<in_place_array_element<V>> Op,
        collective_policy<collective_kind::all_reduce, in_place_array_element<V>, Op> Policy = automatic>
    auto operator()(Comm&& comm, V values, std::size_t n, Op op, Policy const& policy = {}) const -> result {
        return this->make(comm, this->template describe<Policy>(values, n, std::move(op)), policy);
    }
    /// One element each, in place.
    template <
        communicator Comm, in_place_value V, reduction_operator<in_place_value_element<V>> Op,
        collective_policy<collective_kind::all_reduce, in_place_value_element<V>, Op> Policy = automatic>
    auto operator()(Comm&& comm, V value, Op op, Policy const& policy = {}) const -> result {
        return this->make(comm, this->template describe<Policy>(value, std::move(op)), policy);
    }
    /// Single values, or std::vectors of equal size on all ranks; `out` is resized.
    template <communicator Comm, argument_value In, reduction_operator<element_of<In>> Op,
              collective_policy<collective_kind::all_reduce, element_of<In>, Op> Policy = automatic>
    auto operator()(Comm&& comm, In const& in, std::type_identity_t<In>& out, Op op,
                    Policy const& policy = {}) const -> result {
        using of = argument<In>;
        return this->make(
            comm, this->template describe<Policy>(of::data(in), of::size(in), of::place(out), std::move(op)),
            policy);
    }
    /// One element each; returns the result.
    template <communicator Comm, scalar_argument T, reduction_operator<T> Op,
              collective_policy<collective_kind::all_reduce, T, Op> Policy = automatic>
    requires Blocking [[nodiscard]] auto operator()(Comm&& comm, T const& in, Op op,
                                                    Policy const& policy = {}) const -> T {
        T out{};
        (*this)(comm, in, out, std::move(op), policy);
        return out;
    }
};

template <class T>
struct plan_all_reduce_function {
    template <communicator Comm, reduction_operator<T> Op,
              collective_policy<collective_kind::all_reduce> Policy = automatic>
    [[nodiscard]] auto operator()(Comm const& comm, std::size_t n, Op op, Policy const& policy = {}) const {
        auto call = all_reduce_function<true>::described<Policy, T>(std::move(op));
        call.n = n;
        return collective_plan<Comm, T, collective_kind::all_reduce>(comm, std::move(call), policy);
    }
};

} // namespace detail

/// Combines the `in` of all ranks element by element and leaves the result, the same to the bit, in `out` on
/// all of them.
///
///     all_reduce(comm, in, n, out, op[, policy])        n elements
///     all_reduce(comm, inplace(values), n, op[, policy])
///     all_reduce(comm, in, out, op[, policy])           single values, or std::vectors of one size
///     all_reduce(comm, in, op[, policy])                a single value; returns the result
///
/// Must agree on all ranks: the count, the policy with all its members, what the operator computes, and
/// whether its type says that it commutes (a lambda does not, std::plus does).
///
/// The results have the same bits on all ranks, the signs and payloads of NaNs among them, where all ranks
/// run the same program on processors of one kind. Two cases are in other hands: with `native` the MPI
/// library decides, and a census (see below) relies on is_exactly_associative, also for NaNs.
///
/// Cost with `circulant` for m bytes: 2·⌈log2 P⌉ rounds that move 2·(P − 1)/P·m in all (a reduce-scatter and
/// an all-gather), or, when that is shorter, ⌊log2 P⌋ rounds of partial results (a butterfly; two rounds more
/// unless P is a power of two), ⌈log2 P⌉ rounds of all the operands, combined on every rank in the order of
/// ranks, or of partial results (a census), where the operator is exactly associative. In memory about m
/// bytes of blocks beyond the user's, 2m for a butterfly; P·m for the shortest operands.
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
inline constexpr detail::explained<detail::all_reduce_function<true>> all_reduce{};

/// all_reduce that returns at once; the buffers must stay until the request has ended.
///
/// papcoll must be attached to `comm`, else it throws std::logic_error; the policy `native` does without.
/// Without MPI_THREAD_MULTIPLE the operation progresses inside papcoll's calls alone: do not wait by other
/// means for a rank that waits for this request, or call progress() meanwhile. See request.
inline constexpr detail::explained<detail::all_reduce_function<false>> iall_reduce{};

/// plan_all_reduce<T>(comm, n, op[, policy]) prepares all-reduces of n elements of type T, which `run(in,
/// out)` or `run(inplace(values))` makes. Collective, on an attached `comm` (see attach). Throws as
/// all_reduce does.
template <class T>
inline constexpr detail::plan_all_reduce_function<T> plan_all_reduce{};

} // namespace papcoll::inline v0
