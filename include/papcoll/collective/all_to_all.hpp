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

/// The forms of Boost.MPI's all_to_all, each with a policy behind.
template <bool Blocking>
struct all_to_all_function : collective_forms<collective_kind::all_to_all, Blocking> {
    using typename collective_forms<collective_kind::all_to_all, Blocking>::result;

    /// n elements for each rank.
    template <communicator Comm, class T,
              collective_policy<collective_kind::all_to_all, T> Policy = automatic>
    auto operator()(Comm&& comm, T const* in, std::size_t n, std::type_identity_t<T>* out,
                    Policy const& policy = {}) const -> result {
        return this->make(comm, this->template describe<Policy>(in, n, out), policy);
    }
    /// n elements for each rank; `out` is resized.
    template <communicator Comm, class T,
              collective_policy<collective_kind::all_to_all, T> Policy = automatic>
    auto operator()(Comm&& comm, std::vector<T> const& in, std::size_t n, std::vector<T>& out,
                    Policy const& policy = {}) const -> result {
        auto call = this->template describe<Policy>(in.data(), n, out);
        call.in_size = in.size();
        return this->make(comm, std::move(call), policy);
    }
    /// n elements for each rank, in place: rank r's come where those for it were.
    template <communicator Comm, in_place_array V,
              collective_policy<collective_kind::all_to_all, in_place_array_element<V>> Policy = automatic>
    auto operator()(Comm&& comm, V values, std::size_t n, Policy const& policy = {}) const -> result {
        return this->make(comm, this->template describe<Policy>(values, n), policy);
    }
    /// One element for each rank.
    template <communicator Comm, class T,
              collective_policy<collective_kind::all_to_all, T> Policy = automatic>
    auto operator()(Comm&& comm, T const* in, std::type_identity_t<T>* out, Policy const& policy = {}) const
        -> result {
        return (*this)(comm, in, 1, out, policy);
    }
    template <communicator Comm, class T,
              collective_policy<collective_kind::all_to_all, T> Policy = automatic>
    auto operator()(Comm&& comm, std::vector<T> const& in, std::vector<T>& out,
                    Policy const& policy = {}) const -> result {
        return (*this)(comm, in, 1, out, policy);
    }
};

template <class T>
struct plan_all_to_all_function {
    template <communicator Comm, collective_policy<collective_kind::all_to_all> Policy = automatic>
    [[nodiscard]] auto operator()(Comm const& comm, std::size_t n, Policy const& policy = {}) const {
        auto call = all_to_all_function<true>::described<Policy, T>();
        call.n = n;
        return collective_plan<Comm, T, collective_kind::all_to_all>(comm, std::move(call), policy);
    }
};

} // namespace detail

/// Gives every rank a block of n elements from every other: those at in + r n of rank s come to out + s n of
/// rank r.
///
///     all_to_all(comm, in, n, out[, policy])             n elements; pointers, or std::vectors
///     all_to_all(comm, in, out[, policy])                one element for each rank
///     all_to_all(comm, inplace(values), n[, policy])     rank r's come where those for it were
///
/// Must agree on all ranks: n, and the policy with all its members. In place the blocks are copied first.
///
/// | policy | messages of a rank | their bytes, for m bytes of all its blocks |
/// | --- | --- | --- |
/// | all_to_all_linear, all at once | P − 1 | (P − 1)/P·m, the least possible |
/// | all_to_all_linear_sync{.window = w}, w at a time | P − 1 | the same |
/// | all_to_all_pairwise, one after the other | P − 1 | the same |
/// | all_to_all_bruck | ⌈log2 P⌉, each of up to m/2 | at most ⌈log2 P⌉/2·m |
///
/// Sources: Bruck et al., Efficient algorithms for all-to-all communications in multiport message-passing
/// systems, 1997; Träff, Rougier, Hunold, Implementing a classic: zero-copy all-to-all communication with MPI
/// datatypes, 2014, for the form without rotations.
///
/// Throws std::invalid_argument, before any message of the operation, for null data, overlapping buffers, a
/// vector of another size and members of the policy that cannot be; with agreed checks on all ranks if it
/// does on any, or if they disagree. Throws mpi_error where MPI fails.
///
///     papcoll::all_to_all(world, rows.data(), n, columns.data(), papcoll::all_to_all_pairwise{});
inline constexpr detail::explained<detail::all_to_all_function<true>> all_to_all{};

/// all_to_all that returns at once; the buffers must stay until the request has ended.
///
/// papcoll must be attached to `comm`, else it throws std::logic_error; the policy `native` does without.
/// Without MPI_THREAD_MULTIPLE the operation progresses inside papcoll's calls alone: do not wait by other
/// means for a rank that waits for this request, or call progress() meanwhile. See request.
///
///     auto request = papcoll::iall_to_all(world, rows.data(), n, columns.data());
inline constexpr detail::explained<detail::all_to_all_function<false>> iall_to_all{};

/// plan_all_to_all<T>(comm, n[, policy]) prepares all-to-alls of n elements of type T for each rank, which
/// `run(in, out)` or `run(inplace(values))` makes. Collective, on an attached `comm` (see attach).
/// Throws as all_to_all does.
///
///     auto transpose = papcoll::plan_all_to_all<float>(world, n);
///     transpose.run(rows.data(), columns.data());
template <class T>
inline constexpr detail::plan_all_to_all_function<T> plan_all_to_all{};

} // namespace papcoll::inline v0
