// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/explained.hpp>
#include <papcoll/collective/forms.hpp>
#include <papcoll/collective/plan.hpp>
#include <papcoll/collective/sizes.hpp>
#include <papcoll/operators/operators.hpp>

#include <type_traits>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

template <bool Blocking>
struct reduce_scatter_function : collective_forms<collective_kind::reduce_scatter, Blocking> {
    using typename collective_forms<collective_kind::reduce_scatter, Blocking>::result;

    /// `in` has the elements of all ranks one behind the other, `out` room for sizes[rank].
    template <communicator Comm, class T, counts_range Sizes, reduction_operator<T> Op,
              collective_policy<collective_kind::reduce_scatter, T, Op> Policy = automatic>
    auto operator()(Comm&& comm, T const* in, Sizes const& sizes, std::type_identity_t<T>* out, Op op,
                    Policy const& policy = {}) const -> result {
        return parts(sizes, comm, this->template describe<Policy>(in, 0, out, std::move(op)), policy);
    }
    /// In place: the result is at the beginning of `values`, the rest is unspecified.
    template <
        communicator Comm, in_place_array V, counts_range Sizes,
        reduction_operator<in_place_array_element<V>> Op,
        collective_policy<collective_kind::reduce_scatter, in_place_array_element<V>, Op> Policy = automatic>
    auto operator()(Comm&& comm, V values, Sizes const& sizes, Op op, Policy const& policy = {}) const
        -> result {
        return parts(sizes, comm, this->template describe<Policy>(values, 0, std::move(op)), policy);
    }
    /// `in` has as many elements as the sizes say; `out` is resized to sizes[rank].
    template <communicator Comm, class T, counts_range Sizes, reduction_operator<T> Op,
              collective_policy<collective_kind::reduce_scatter, T, Op> Policy = automatic>
    auto operator()(Comm&& comm, std::vector<T> const& in, Sizes const& sizes, std::vector<T>& out, Op op,
                    Policy const& policy = {}) const -> result {
        auto call = this->template describe<Policy>(in.data(), 0, out, std::move(op));
        call.in_size = in.size();
        return parts(sizes, comm, std::move(call), policy);
    }

private:
    template <class Sizes, class Comm, class Policy>
    static auto parts(Sizes const& sizes, Comm& comm, call_description call, Policy const& policy) -> result {
        call.parts = rank_sizes(sizes);
        return reduce_scatter_function::make(comm, std::move(call), policy);
    }
};

template <class T>
struct plan_reduce_scatter_function {
    template <communicator Comm, counts_range Sizes, reduction_operator<T> Op,
              collective_policy<collective_kind::reduce_scatter> Policy = automatic>
    [[nodiscard]] auto operator()(Comm const& comm, Sizes const& sizes, Op op,
                                  Policy const& policy = {}) const {
        auto call = reduce_scatter_function<true>::described<Policy, T>(std::move(op));
        call.parts = rank_sizes(sizes);
        return collective_plan<Comm, T, collective_kind::reduce_scatter>(comm, std::move(call), policy);
    }
};

} // namespace detail

/// Combines the `in` of all ranks element by element and leaves each rank its part of the result: the first
/// sizes[0] elements on rank 0, the next sizes[1] on rank 1, and so on.
///
///     reduce_scatter(comm, in, sizes, out, op[, policy])          in and out are pointers or std::vectors
///     reduce_scatter(comm, inplace(values), sizes, op[, policy])  the result is at the beginning of values
///
/// Must agree on all ranks: the sizes (any contiguous range of integers; zeros are welcome), the policy with
/// all its members, what the operator computes, and whether its type says that it commutes.
///
/// Cost with `circulant` for m bytes: ⌈log2 P⌉ rounds of partial results of whole parts, or, where the sizes
/// are so uneven that this is shorter, n − 1 + ⌈log2 P⌉ rounds that move m/n at most, for n blocks of each
/// long part. In memory about m bytes of blocks beyond the user's.
///
/// Throws std::invalid_argument, before any message of the operation, for sizes that are negative or not one
/// per rank, null data, overlapping buffers and members of the policy that cannot be; with agreed checks on
/// all ranks if it does on any, or if they disagree. An exception of the operator is rethrown where it was
/// thrown, after the communication is complete; ranks that miss a result for it throw missing_value_error. A
/// message of another length than expected throws std::length_error where it arrives. Results are then
/// unspecified. Throws mpi_error where MPI fails.
///
///     papcoll::reduce_scatter(world, forces.data(), sizes, mine.data(), std::plus<>(),
///     papcoll::circulant{});
inline constexpr detail::explained<detail::reduce_scatter_function<true>> reduce_scatter{};

/// reduce_scatter that returns at once; the buffers must stay until the request has ended, the sizes need
/// not.
///
/// papcoll must be attached to `comm`, else it throws std::logic_error; the policy `native` does without.
/// Without MPI_THREAD_MULTIPLE the operation progresses inside papcoll's calls alone: do not wait by other
/// means for a rank that waits for this request, or call progress() meanwhile. See request.
///
///     auto request = papcoll::ireduce_scatter(world, forces.data(), sizes, mine.data(), std::plus<>());
inline constexpr detail::explained<detail::reduce_scatter_function<false>> ireduce_scatter{};

/// plan_reduce_scatter<T>(comm, sizes, op[, policy]) prepares reduce-scatters of these sizes, which `run(in,
/// out)` or `run(inplace(values))` makes. Collective, on an attached `comm` (see attach). Throws as
/// reduce_scatter does.
///
///     auto sum = papcoll::plan_reduce_scatter<float>(world, sizes, std::plus<>());
///     sum.run(forces.data(), mine.data());
template <class T>
inline constexpr detail::plan_reduce_scatter_function<T> plan_reduce_scatter{};

} // namespace papcoll::inline v0
