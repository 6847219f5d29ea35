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

/// The forms of Boost.MPI's all_gatherv, each with a policy behind: an all-gather of parts of different
/// sizes.
template <bool Blocking>
struct all_gatherv_function : collective_forms<collective_kind::all_gather, Blocking> {
    using typename collective_forms<collective_kind::all_gather, Blocking>::result;
    static constexpr bool has_sizes = true;

    /// sizes[rank] elements; the parts follow each other.
    template <communicator Comm, transportable T, counts_range Sizes,
              collective_policy<collective_kind::all_gather, T> Policy = automatic>
    auto operator()(Comm&& comm, T const* in, std::type_identity_t<T>* out, Sizes const& sizes,
                    Policy const& policy = {}) const -> result {
        return parts<T>(rank_sizes(sizes), comm, this->template describe<Policy>(in, 0, out), policy);
    }
    template <communicator Comm, transportable T, counts_range Sizes, counts_range Displacements,
              collective_policy<collective_kind::all_gather, T> Policy = automatic>
    auto operator()(Comm&& comm, T const* in, std::type_identity_t<T>* out, Sizes const& sizes,
                    Displacements const& displacements, Policy const& policy = {}) const -> result {
        return parts<T>({sizes, displacements}, comm, this->template describe<Policy>(in, 0, out), policy);
    }
    /// One element of this rank at most.
    template <communicator Comm, scalar_argument T, counts_range Sizes,
              collective_policy<collective_kind::all_gather> Policy = automatic>
    auto operator()(Comm&& comm, T const& in, std::type_identity_t<T>* out, Sizes const& sizes,
                    Policy const& policy = {}) const -> result {
        return parts<T>(rank_sizes(sizes), comm, one<Policy>(in, out), policy);
    }
    template <communicator Comm, scalar_argument T, counts_range Sizes, counts_range Displacements,
              collective_policy<collective_kind::all_gather> Policy = automatic>
    auto operator()(Comm&& comm, T const& in, std::type_identity_t<T>* out, Sizes const& sizes,
                    Displacements const& displacements, Policy const& policy = {}) const -> result {
        return parts<T>({sizes, displacements}, comm, one<Policy>(in, out), policy);
    }
    /// In place: each rank's part is where it belongs before.
    template <communicator Comm, in_place_array V, counts_range Sizes,
              collective_policy<collective_kind::all_gather, in_place_array_element<V>> Policy = automatic>
    auto operator()(Comm&& comm, V values, Sizes const& sizes, Policy const& policy = {}) const -> result {
        return parts<in_place_array_element<V>>(rank_sizes(sizes), comm,
                                                this->template describe<Policy>(values, 0), policy);
    }
    template <communicator Comm, in_place_array V, counts_range Sizes, counts_range Displacements,
              collective_policy<collective_kind::all_gather, in_place_array_element<V>> Policy = automatic>
    auto operator()(Comm&& comm, V values, Sizes const& sizes, Displacements const& displacements,
                    Policy const& policy = {}) const -> result {
        return parts<in_place_array_element<V>>({sizes, displacements}, comm,
                                                this->template describe<Policy>(values, 0), policy);
    }
    /// `in` has sizes[rank] elements; `out` is resized to hold all of them.
    template <communicator Comm, transportable T, counts_range Sizes,
              collective_policy<collective_kind::all_gather, T> Policy = automatic>
    auto operator()(Comm&& comm, std::vector<T> const& in, std::vector<T>& out, Sizes const& sizes,
                    Policy const& policy = {}) const -> result {
        auto call = this->template describe<Policy>(in.data(), 0, out);
        call.in_size = in.size();
        return parts<T>(rank_sizes(sizes), comm, std::move(call), policy);
    }
    template <communicator Comm, class T, counts_range Sizes, counts_range Displacements,
              collective_policy<collective_kind::all_gather> Policy = automatic>
    auto operator()(Comm&& comm, std::vector<T> const& in, std::vector<T>& out, Sizes const& sizes,
                    Displacements const& displacements, Policy const& policy = {}) const -> result {
        auto call = this->template describe<Policy>(in.data(), 0, out);
        call.in_size = in.size();
        return parts<T>({sizes, displacements}, comm, std::move(call), policy);
    }

private:
    template <class Policy, class T>
    static auto one(T const& in, T* out) -> call_description {
        auto call = all_gatherv_function::template describe<Policy>(&in, 0, out);
        call.in_size = 1;
        call.in_kind = call_description::input::at_least;
        return call;
    }
    template <class T, class Comm, class Policy>
    static auto parts(rank_sizes const& sizes, Comm& comm, call_description call, Policy const& policy)
        -> result {
        require_transportable<T>();
        call.parts = sizes;
        return all_gatherv_function::make(comm, std::move(call), policy);
    }
};

template <class T>
struct plan_all_gatherv_function {
    template <communicator Comm, counts_range Sizes,
              collective_policy<collective_kind::all_gather> Policy = automatic>
    [[nodiscard]] auto operator()(Comm const& comm, Sizes const& sizes, Policy const& policy = {}) const {
        return plan(comm, rank_sizes(sizes), policy);
    }
    template <communicator Comm, counts_range Sizes, counts_range Displacements,
              collective_policy<collective_kind::all_gather> Policy = automatic>
    [[nodiscard]] auto operator()(Comm const& comm, Sizes const& sizes, Displacements const& displacements,
                                  Policy const& policy = {}) const {
        return plan(comm, {sizes, displacements}, policy);
    }

private:
    template <class Comm, class Policy>
    static auto plan(Comm const& comm, rank_sizes const& sizes, Policy const& policy) {
        require_transportable<T>();
        auto call = all_gatherv_function<true>::described<Policy, T>();
        call.parts = sizes;
        return collective_plan<Comm, T, collective_kind::all_gather>(comm, std::move(call), policy);
    }
};

} // namespace detail

/// Collects sizes[r] elements of each rank r on all ranks, at out + displacements[r]; without displacements
/// the parts follow each other.
///
///     all_gatherv(comm, in, out, sizes[, displacements][, policy])
///     all_gatherv(comm, inplace(values), sizes[, displacements][, policy])
///
/// Must agree on all ranks: the sizes (any contiguous range of integers), and the policy with all its
/// members. Displacements may differ. Sizes of zero are welcome. Elements arrive in place; only the rank's
/// own are copied.
///
/// Cost with `circulant` for m bytes in all: ⌈log2 P⌉ rounds of whole parts, or, where the sizes are so
/// uneven that this is shorter, n − 1 + ⌈log2 P⌉ rounds that move m/n at most, for n blocks of each
/// long part.
///
/// Throws std::invalid_argument, before any message of the operation, for sizes or displacements that are
/// negative or not one per rank, parts that overlap, null data, overlapping buffers and members of the policy
/// that cannot be; with agreed checks on all ranks if it does on any, or if they disagree. Throws mpi_error
/// where MPI fails.
///
///     papcoll::all_gatherv(world, mine.data(), all.data(), sizes, papcoll::circulant{});
inline constexpr detail::explained<detail::all_gatherv_function<true>> all_gatherv{};

/// all_gatherv that returns at once; the buffers must stay until the request has ended, sizes and
/// displacements need not.
///
/// papcoll must be attached to `comm`, else it throws std::logic_error; the policy `native` does without.
/// Without MPI_THREAD_MULTIPLE the operation progresses inside papcoll's calls alone: do not wait by other
/// means for a rank that waits for this request, or call progress() meanwhile. See request.
///
///     auto request = papcoll::iall_gatherv(world, mine.data(), all.data(), sizes);
inline constexpr detail::explained<detail::all_gatherv_function<false>> iall_gatherv{};

/// plan_all_gatherv<T>(comm, sizes[, displacements][, policy]) prepares all-gathers of these sizes, which
/// `run(in, out)` or `run(inplace(values))` makes. Collective, on an attached `comm` (see attach).
/// Throws as all_gatherv does.
///
///     auto collect = papcoll::plan_all_gatherv<float>(world, sizes);
///     collect.run(mine.data(), all.data());
template <class T>
inline constexpr detail::plan_all_gatherv_function<T> plan_all_gatherv{};

} // namespace papcoll::inline v0
