// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/explained.hpp>
#include <papcoll/collective/forms.hpp>
#include <papcoll/collective/plan.hpp>
#include <papcoll/collective/sizes.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The forms of Boost.MPI's gatherv, each with a policy behind: a gather of parts of different sizes.
template <bool Blocking>
struct gatherv_function : collective_forms<collective_kind::gather, Blocking> {
    using typename collective_forms<collective_kind::gather, Blocking>::result;
    static constexpr bool has_sizes = true;

    /// n elements of this rank. `out`, a pointer or a std::vector that is resized, and the sizes count at the
    /// root alone.
    template <communicator Comm, transportable T, counts_range Sizes,
              collective_policy<collective_kind::gather> Policy = automatic>
    auto operator()(Comm&& comm, T const* in, std::size_t n, std::type_identity_t<place_for<T>> out,
                    Sizes const& sizes, int root, Policy const& policy = {}) const -> result {
        return parts<T>(rank_sizes(sizes).with_own(n), root, comm,
                        this->template describe<Policy>(in, 0, out), policy);
    }
    template <communicator Comm, transportable T, counts_range Sizes, counts_range Displacements,
              collective_policy<collective_kind::gather> Policy = automatic>
    auto operator()(Comm&& comm, T const* in, std::size_t n, std::type_identity_t<place_for<T>> out,
                    Sizes const& sizes, Displacements const& displacements, int root,
                    Policy const& policy = {}) const -> result {
        return parts<T>(rank_sizes(sizes, displacements).with_own(n), root, comm,
                        this->template describe<Policy>(in, 0, out), policy);
    }
    /// On ranks other than the root.
    template <communicator Comm, transportable T,
              collective_policy<collective_kind::gather> Policy = automatic>
    auto operator()(Comm&& comm, T const* in, std::size_t n, int root, Policy const& policy = {}) const
        -> result {
        return parts<T>(rank_sizes::of_own(n), root, comm, this->template describe<Policy>(in, 0, nullptr),
                        policy);
    }
    /// The elements of a vector.
    template <communicator Comm, transportable T, counts_range Sizes,
              collective_policy<collective_kind::gather> Policy = automatic>
    auto operator()(Comm&& comm, std::vector<T> const& in, std::type_identity_t<place_for<T>> out,
                    Sizes const& sizes, int root, Policy const& policy = {}) const -> result {
        return (*this)(comm, in.data(), in.size(), out, sizes, root, policy);
    }
    template <communicator Comm, transportable T, counts_range Sizes, counts_range Displacements,
              collective_policy<collective_kind::gather> Policy = automatic>
    auto operator()(Comm&& comm, std::vector<T> const& in, std::type_identity_t<place_for<T>> out,
                    Sizes const& sizes, Displacements const& displacements, int root,
                    Policy const& policy = {}) const -> result {
        return (*this)(comm, in.data(), in.size(), out, sizes, displacements, root, policy);
    }
    template <communicator Comm, transportable T,
              collective_policy<collective_kind::gather> Policy = automatic>
    auto operator()(Comm&& comm, std::vector<T> const& in, int root, Policy const& policy = {}) const
        -> result {
        return (*this)(comm, in.data(), in.size(), root, policy);
    }
    /// At the root, whose own part is where it belongs before.
    template <communicator Comm, in_place_array V, counts_range Sizes,
              collective_policy<collective_kind::gather> Policy = automatic>
    auto operator()(Comm&& comm, V values, Sizes const& sizes, int root, Policy const& policy = {}) const
        -> result {
        return parts<in_place_array_element<V>>(rank_sizes(sizes), root, comm,
                                                this->template describe<Policy>(values, 0), policy);
    }
    template <communicator Comm, in_place_array V, counts_range Sizes, counts_range Displacements,
              collective_policy<collective_kind::gather> Policy = automatic>
    auto operator()(Comm&& comm, V values, Sizes const& sizes, Displacements const& displacements, int root,
                    Policy const& policy = {}) const -> result {
        return parts<in_place_array_element<V>>(rank_sizes(sizes, displacements), root, comm,
                                                this->template describe<Policy>(values, 0), policy);
    }

private:
    template <class T, class Comm, class Policy>
    static auto parts(rank_sizes const& sizes, int root, Comm& comm, call_description call,
                      Policy const& policy) -> result {
        require_transportable<T>();
        call.root = root;
        call.parts = sizes;
        return gatherv_function::make(comm, std::move(call), policy);
    }
};

/// The plan of a gatherv, or of a scatterv.
template <class T, collective_kind Operation>
struct plan_uneven_function {
    template <communicator Comm, counts_range Sizes, collective_policy<Operation> Policy = automatic>
    [[nodiscard]] auto operator()(Comm const& comm, Sizes const& sizes, int root,
                                  Policy const& policy = {}) const {
        return plan(comm, rank_sizes(sizes), root, policy);
    }
    template <communicator Comm, counts_range Sizes, counts_range Displacements,
              collective_policy<Operation> Policy = automatic>
    [[nodiscard]] auto operator()(Comm const& comm, Sizes const& sizes, Displacements const& displacements,
                                  int root, Policy const& policy = {}) const {
        return plan(comm, {sizes, displacements}, root, policy);
    }
    /// On ranks other than the root.
    template <communicator Comm, collective_policy<Operation> Policy = automatic>
    [[nodiscard]] auto operator()(Comm const& comm, std::size_t n, int root,
                                  Policy const& policy = {}) const {
        return plan(comm, rank_sizes::of_own(n), root, policy);
    }

private:
    template <class Comm, class Policy>
    static auto plan(Comm const& comm, rank_sizes const& sizes, int root, Policy const& policy) {
        require_transportable<T>();
        auto call = collective_forms<Operation, true>::template described<Policy, T>();
        call.parts = sizes;
        call.root = root;
        return collective_plan<Comm, T, Operation>(comm, std::move(call), policy);
    }
};

} // namespace detail

/// Collects the n elements of every rank, which may have different n, at the root: those of rank r, which are
/// sizes[r], at out + displacements[r]; without displacements the parts follow each other.
///
///     gatherv(comm, in, n, out, sizes[, displacements], root[, policy])   out is a pointer or a std::vector
///     gatherv(comm, in, n, root[, policy])                                on ranks other than the root
///     gatherv(comm, in, out, sizes[, displacements], root[, policy])      in is a std::vector
///     gatherv(comm, in, root[, policy])                                   likewise, on other ranks
///     gatherv(comm, inplace(values), sizes[, displacements], root[, policy])   at the root
///
/// Sizes and displacements, any contiguous ranges of integers, count at the root alone. Must agree: the root
/// and the policy with all its members on all ranks, sizes[r] with the n of rank r. Sizes of zero are
/// welcome.
///
/// Cost: the parts of the others over the root's link, one message for each with `linear`.
///
/// Throws std::invalid_argument, before any message of the operation, for a root that is no rank, at the root
/// for sizes or displacements that are negative or not one per rank, and for parts that overlap, for null
/// data, overlapping buffers, members of the policy that cannot be and policies that need equal sizes
/// (knomial_tree); with agreed checks on all ranks if it does on any. A part of another size than the root
/// expects throws std::length_error there. Throws mpi_error where MPI fails.
///
///     papcoll::gatherv(world, mine, all.data(), sizes, 0);
inline constexpr detail::explained<detail::gatherv_function<true>> gatherv{};

/// gatherv that returns at once; the buffers must stay until the request has ended, sizes and displacements
/// need not.
///
/// papcoll must be attached to `comm`, else it throws std::logic_error; the policy `native` does without.
/// Without MPI_THREAD_MULTIPLE the operation progresses inside papcoll's calls alone: do not wait by other
/// means for a rank that waits for this request, or call progress() meanwhile. See request.
///
///     auto request = papcoll::igatherv(world, mine, all.data(), sizes, 0);
inline constexpr detail::explained<detail::gatherv_function<false>> igatherv{};

/// plan_gatherv<T>(comm, sizes[, displacements], root[, policy]), on ranks other than the root also
/// plan_gatherv<T>(comm, n, root[, policy]), prepares gathers of these sizes, which `run(in, out)`, `run(in)`
/// on ranks other than the root, or `run(inplace(values))` makes. Collective, on an attached `comm` (see
/// attach). Throws as gatherv does.
///
///     auto collect = papcoll::plan_gatherv<float>(world, sizes, 0);
///     collect.run(mine.data(), all.data());
template <class T>
inline constexpr detail::plan_uneven_function<T, collective_kind::gather> plan_gatherv{};

} // namespace papcoll::inline v0
