// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/explained.hpp>
#include <papcoll/collective/forms.hpp>
#include <papcoll/collective/plan.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The forms of Boost.MPI's all_gather, each with a policy behind.
template <bool Blocking>
struct all_gather_function : collective_forms<collective_kind::all_gather, Blocking> {
    using typename collective_forms<collective_kind::all_gather, Blocking>::result;

    /// n elements each; `out` is a pointer, or a std::vector that is resized.
    template <communicator Comm, class T,
              collective_policy<collective_kind::all_gather, T> Policy = automatic>
    auto operator()(Comm&& comm, T const* in, std::size_t n, std::type_identity_t<place_for<T>> out,
                    Policy const& policy = {}) const -> result {
        return this->make(comm, this->template describe<Policy>(in, n, out), policy);
    }
    /// n elements each, in place: rank r's are at values + r n before.
    template <communicator Comm, in_place_array V,
              collective_policy<collective_kind::all_gather, in_place_array_element<V>> Policy = automatic>
    auto operator()(Comm&& comm, V values, std::size_t n, Policy const& policy = {}) const -> result {
        return this->make(comm, this->template describe<Policy>(values, n), policy);
    }
    /// One element each.
    template <communicator Comm, argument_value T,
              collective_policy<collective_kind::all_gather, T> Policy = automatic>
    auto operator()(Comm&& comm, T const& in, std::type_identity_t<place_for<T>> out,
                    Policy const& policy = {}) const -> result {
        return (*this)(comm, &in, 1, out, policy);
    }
};

template <class T>
struct plan_all_gather_function {
    template <communicator Comm, collective_policy<collective_kind::all_gather> Policy = automatic>
    [[nodiscard]] auto operator()(Comm const& comm, std::size_t n, Policy const& policy = {}) const {
        auto call = all_gather_function<true>::described<Policy, T>();
        call.n = n;
        return collective_plan<Comm, T, collective_kind::all_gather>(comm, std::move(call), policy);
    }
};

} // namespace detail

/// Collects the n elements of every rank on all ranks: those of rank r at out + r n.
///
///     all_gather(comm, in, n, out[, policy])             n elements; out is a pointer or a std::vector
///     all_gather(comm, in, out[, policy])                single values
///     all_gather(comm, inplace(values), n[, policy])     rank r's elements are at values + r n before
///
/// Must agree on all ranks: n, and the policy with all its members. Elements arrive in place; only the rank's
/// own are copied.
///
/// Cost with `circulant` for m bytes of all ranks together: ⌈log2 P⌉ rounds that move (P − 1)/P·m, the fewest
/// and the least possible.
///
/// Throws std::invalid_argument, before any message of the operation, for null data, a number of elements
/// that memory cannot hold, overlapping buffers and members of the policy that cannot be; with agreed checks
/// on all ranks if it does on any, or if they disagree. A std::vector overlaps `in` where any of its memory
/// does, and is resized as in reduce. Throws mpi_error where MPI fails.
///
/// Values without an MPI datatype travel serialized, see reduce for which they are, and broadcast.
///
///     std::vector<int> sizes;
///     papcoll::all_gather(world, mine, sizes, papcoll::circulant{});
inline constexpr detail::explained<detail::all_gather_function<true>> all_gather{};

/// all_gather that returns at once; the buffers must stay until the request has ended.
///
/// papcoll must be attached to `comm`, else it throws std::logic_error; the policy `native` does without.
/// Without MPI_THREAD_MULTIPLE the operation progresses inside papcoll's calls alone: do not wait by other
/// means for a rank that waits for this request, or call progress() meanwhile. See request.
///
///     auto request = papcoll::iall_gather(world, mine.data(), n, all.data());
inline constexpr detail::explained<detail::all_gather_function<false>> iall_gather{};

/// plan_all_gather<T>(comm, n[, policy]) prepares all-gathers of n elements of type T per rank, which
/// `run(in, out)` or `run(inplace(values))` makes. Collective, on an attached `comm` (see attach).
/// Throws as all_gather does.
///
///     auto collect = papcoll::plan_all_gather<float>(world, n);
///     collect.run(mine.data(), all.data());
template <class T>
inline constexpr detail::plan_all_gather_function<T> plan_all_gather{};

} // namespace papcoll::inline v0
