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

template <bool Blocking>
struct reduce_scatter_block_function : collective_forms<collective_kind::reduce_scatter, Blocking> {
    using typename collective_forms<collective_kind::reduce_scatter, Blocking>::result;
    static constexpr bool has_equal_parts = true; // a count in place of the sizes of reduce_scatter

    /// `in` has n elements for each rank, one behind the other, `out` room for n.
    template <communicator Comm, class T, reduction_operator<T> Op,
              collective_policy<collective_kind::reduce_scatter, T, Op> Policy = automatic>
    auto operator()(Comm&& comm, T const* in, std::size_t n, std::type_identity_t<place_for<T>> out, Op op,
                    Policy const& policy = {}) const -> result {
        return this->make(comm, this->template describe<Policy>(in, n, out, std::move(op)), policy);
    }
    /// In place: the result is at the beginning of `values`, the rest is unspecified.
    template <
        communicator Comm, in_place_array V, reduction_operator<in_place_array_element<V>> Op,
        collective_policy<collective_kind::reduce_scatter, in_place_array_element<V>, Op> Policy = automatic>
    auto operator()(Comm&& comm, V values, std::size_t n, Op op, Policy const& policy = {}) const -> result {
        return this->make(comm, this->template describe<Policy>(values, n, std::move(op)), policy);
    }
    /// `in` has n elements for each rank; `out` is resized to n.
    template <communicator Comm, class T, reduction_operator<T> Op,
              collective_policy<collective_kind::reduce_scatter, T, Op> Policy = automatic>
    auto operator()(Comm&& comm, std::vector<T> const& in, std::size_t n, std::vector<T>& out, Op op,
                    Policy const& policy = {}) const -> result {
        auto call = this->template describe<Policy>(in.data(), n, out, std::move(op));
        call.in_size = in.size();
        return this->make(comm, std::move(call), policy);
    }
};

template <class T>
struct plan_reduce_scatter_block_function {
    template <communicator Comm, reduction_operator<T> Op,
              collective_policy<collective_kind::reduce_scatter> Policy = automatic>
    [[nodiscard]] auto operator()(Comm const& comm, std::size_t n, Op op, Policy const& policy = {}) const {
        auto call = reduce_scatter_block_function<true>::described<Policy, T>(std::move(op));
        call.n = n;
        return collective_plan<Comm, T, collective_kind::reduce_scatter>(comm, std::move(call), policy);
    }
};

} // namespace detail

/// reduce_scatter of n elements for each rank: combines the `in` of all ranks element by element and leaves
/// the n results from r n on in the `out` of rank r.
///
///     reduce_scatter_block(comm, in, n, out, op[, policy])   pointers, or std::vectors
///     reduce_scatter_block(comm, inplace(values), n, op[, policy])
///
/// Must agree on all ranks: n, the policy with all its members, what the operator computes, and whether its
/// type says that it commutes. Cost, policies and exceptions are those of reduce_scatter.
///
///     papcoll::reduce_scatter_block(world, rows.data(), n, sums.data(), std::plus<>());
inline constexpr detail::explained<detail::reduce_scatter_block_function<true>> reduce_scatter_block{};

/// reduce_scatter_block that returns at once; the buffers must stay until the request has ended.
///
/// papcoll must be attached to `comm`, else it throws std::logic_error; the policy `native` does without.
/// Without MPI_THREAD_MULTIPLE the operation progresses inside papcoll's calls alone: do not wait by other
/// means for a rank that waits for this request, or call progress() meanwhile. See request.
///
///     auto request =
///         papcoll::ireduce_scatter_block(world, rows.data(), n, sums.data(), std::plus<>());
inline constexpr detail::explained<detail::reduce_scatter_block_function<false>> ireduce_scatter_block{};

/// plan_reduce_scatter_block<T>(comm, n, op[, policy]) prepares calls of n elements of type T for each rank,
/// which `run(in, out)` or `run(inplace(values))` makes. Collective, on an attached `comm` (see attach).
/// Throws as reduce_scatter does.
///
///     auto sum = papcoll::plan_reduce_scatter_block<float>(world, n, std::plus<>());
///     sum.run(rows.data(), sums.data());
template <class T>
inline constexpr detail::plan_reduce_scatter_block_function<T> plan_reduce_scatter_block{};

} // namespace papcoll::inline v0
