// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/explained.hpp>
#include <papcoll/collective/forms.hpp>
#include <papcoll/collective/plan.hpp>
#include <papcoll/collective/sizes.hpp>

#include <type_traits>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// An all-to-all of parts of different sizes.
template <bool Blocking>
struct all_to_allv_function : collective_forms<collective_kind::all_to_all, Blocking> {
    using typename collective_forms<collective_kind::all_to_all, Blocking>::result;
    static constexpr bool has_sizes = true;

    /// leaving[r] elements for rank r, arriving[r] from it; each one's behind the other's. `out` is a pointer
    /// or a std::vector that is resized.
    template <communicator Comm, transportable T, counts_range Leaving, counts_range Arriving,
              collective_policy<collective_kind::all_to_all> Policy = automatic>
    auto operator()(Comm&& comm, T const* in, Leaving const& leaving, std::type_identity_t<place_for<T>> out,
                    Arriving const& arriving, Policy const& policy = {}) const -> result {
        return parts<T>(rank_sizes(arriving).giving(leaving), comm,
                        this->template describe<Policy>(in, 0, out), policy);
    }
    template <communicator Comm, transportable T, counts_range Leaving, counts_range From,
              counts_range Arriving, counts_range To,
              collective_policy<collective_kind::all_to_all> Policy = automatic>
    auto operator()(Comm&& comm, T const* in, Leaving const& leaving, From const& from,
                    std::type_identity_t<place_for<T>> out, Arriving const& arriving, To const& to,
                    Policy const& policy = {}) const -> result {
        return parts<T>(rank_sizes(arriving, to).giving(leaving, from), comm,
                        this->template describe<Policy>(in, 0, out), policy);
    }
    /// The elements are in a vector, which has as many as the sizes say.
    template <communicator Comm, transportable T, counts_range Leaving, counts_range Arriving,
              collective_policy<collective_kind::all_to_all> Policy = automatic>
    auto operator()(Comm&& comm, std::vector<T> const& in, Leaving const& leaving,
                    std::type_identity_t<place_for<T>> out, Arriving const& arriving,
                    Policy const& policy = {}) const -> result {
        auto call = this->template describe<Policy>(in.data(), 0, out);
        call.in_size = in.size();
        return parts<T>(rank_sizes(arriving).giving(leaving), comm, std::move(call), policy);
    }
    /// In place: as many come from a rank as go to it, to the same place.
    template <communicator Comm, in_place_array V, counts_range Sizes,
              collective_policy<collective_kind::all_to_all> Policy = automatic>
    auto operator()(Comm&& comm, V values, Sizes const& sizes, Policy const& policy = {}) const -> result {
        return parts<in_place_array_element<V>>(rank_sizes(sizes).giving(sizes), comm,
                                                this->template describe<Policy>(values, 0), policy);
    }
    template <communicator Comm, in_place_array V, counts_range Sizes, counts_range Displacements,
              collective_policy<collective_kind::all_to_all> Policy = automatic>
    auto operator()(Comm&& comm, V values, Sizes const& sizes, Displacements const& displacements,
                    Policy const& policy = {}) const -> result {
        return parts<in_place_array_element<V>>(rank_sizes(sizes, displacements).giving(sizes, displacements),
                                                comm, this->template describe<Policy>(values, 0), policy);
    }

private:
    template <class T, class Comm, class Policy>
    static auto parts(rank_sizes const& sizes, Comm& comm, call_description call, Policy const& policy)
        -> result {
        require_transportable<T>();
        call.parts = sizes;
        return all_to_allv_function::make(comm, std::move(call), policy);
    }
};

template <class T>
struct plan_all_to_allv_function {
    template <communicator Comm, counts_range Leaving, counts_range Arriving,
              collective_policy<collective_kind::all_to_all> Policy = automatic>
    [[nodiscard]] auto operator()(Comm const& comm, Leaving const& leaving, Arriving const& arriving,
                                  Policy const& policy = {}) const {
        return plan(comm, rank_sizes(arriving).giving(leaving), policy);
    }
    template <communicator Comm, counts_range Leaving, counts_range From, counts_range Arriving,
              counts_range To, collective_policy<collective_kind::all_to_all> Policy = automatic>
    [[nodiscard]] auto operator()(Comm const& comm, Leaving const& leaving, From const& from,
                                  Arriving const& arriving, To const& to, Policy const& policy = {}) const {
        return plan(comm, rank_sizes(arriving, to).giving(leaving, from), policy);
    }

private:
    template <class Comm, class Policy>
    static auto plan(Comm const& comm, rank_sizes const& sizes, Policy const& policy) {
        require_transportable<T>();
        auto call = all_to_allv_function<true>::template described<Policy, T>();
        call.parts = sizes;
        return collective_plan<Comm, T, collective_kind::all_to_all>(comm, std::move(call), policy);
    }
};

} // namespace detail

/// Gives every rank a part of different size from every other: leaving[r] elements, at in + from[r], go to
/// rank r, and arriving[r] elements come from it, to out + to[r]; without these displacements the parts
/// follow each other.
///
///     all_to_allv(comm, in, leaving, out, arriving[, policy])                pointers, or std::vectors
///     all_to_allv(comm, in, leaving, from, out, arriving, to[, policy])
///     all_to_allv(comm, inplace(values), sizes[, displacements][, policy])   as many come as go
///
/// Sizes and displacements are any contiguous ranges of integers. Must agree: the policy with all its members
/// on all ranks, leaving[r] of rank s with arriving[s] of rank r. Sizes of zero are welcome, and nothing is
/// sent for them. In place the parts are copied first.
///
/// Cost with `all_to_all_linear`, `all_to_all_linear_sync` and `all_to_all_pairwise`: each part is one
/// message, P − 1 of a rank at most.
///
/// Throws std::invalid_argument, before any message of the operation, for sizes or displacements that are
/// negative or not one per rank, parts of `out` that overlap, null data, overlapping buffers, members of the
/// policy that cannot be and policies that need equal sizes (all_to_all_bruck); with agreed checks on all
/// ranks if it does on any. A part of another size than expected throws std::length_error where it arrives.
/// Throws mpi_error where MPI fails.
///
///     papcoll::all_to_allv(world, in.data(), leaving, out.data(), arriving);
inline constexpr detail::explained<detail::all_to_allv_function<true>> all_to_allv{};

/// all_to_allv that returns at once; the buffers must stay until the request has ended, sizes and
/// displacements need not.
///
/// papcoll must be attached to `comm`, else it throws std::logic_error; the policy `native` does without.
/// Without MPI_THREAD_MULTIPLE the operation progresses inside papcoll's calls alone: do not wait by other
/// means for a rank that waits for this request, or call progress() meanwhile. See request.
///
///     auto request = papcoll::iall_to_allv(world, in.data(), leaving, out.data(), arriving);
inline constexpr detail::explained<detail::all_to_allv_function<false>> iall_to_allv{};

/// plan_all_to_allv<T>(comm, leaving, arriving[, policy]), or plan_all_to_allv<T>(comm, leaving, from,
/// arriving, to[, policy]), prepares all-to-alls of these sizes, which `run(in, out)` or
/// `run(inplace(values))` makes. Collective, on an attached `comm` (see attach). Throws as all_to_allv does.
///
///     auto exchange = papcoll::plan_all_to_allv<float>(world, leaving, arriving);
///     exchange.run(in.data(), out.data());
template <class T>
inline constexpr detail::plan_all_to_allv_function<T> plan_all_to_allv{};

} // namespace papcoll::inline v0
