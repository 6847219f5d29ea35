// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/explained.hpp>
#include <papcoll/collective/forms.hpp>
#include <papcoll/collective/gatherv.hpp>
#include <papcoll/collective/plan.hpp>
#include <papcoll/collective/sizes.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The forms of Boost.MPI's scatterv, each with a policy behind: a scatter of parts of different sizes.
template <bool Blocking>
struct scatterv_function : collective_forms<collective_kind::scatter, Blocking> {
    using typename collective_forms<collective_kind::scatter, Blocking>::result;
    static constexpr bool has_sizes = true;

    /// sizes[rank] elements of this rank. `in` counts at the root alone. `out` is a pointer or a std::vector
    /// that is resized.
    template <communicator Comm, transportable T, counts_range Sizes,
              collective_policy<collective_kind::scatter> Policy = automatic>
    auto operator()(Comm&& comm, T const* in, Sizes const& sizes, std::type_identity_t<place_for<T>> out,
                    int root, Policy const& policy = {}) const -> result {
        return parts<T>(rank_sizes(sizes), root, comm, this->template describe<Policy>(in, 0, out), policy);
    }
    /// n elements of this rank. The sizes, too, count at the root alone.
    template <communicator Comm, transportable T, counts_range Sizes, counts_range Displacements,
              collective_policy<collective_kind::scatter> Policy = automatic>
    auto operator()(Comm&& comm, T const* in, Sizes const& sizes, Displacements const& displacements,
                    std::type_identity_t<place_for<T>> out, std::size_t n, int root,
                    Policy const& policy = {}) const -> result {
        return parts<T>(rank_sizes(sizes, displacements).with_own(n), root, comm,
                        this->template describe<Policy>(in, 0, out), policy);
    }
    /// On ranks other than the root.
    template <communicator Comm, transportable T, std::integral N,
              collective_policy<collective_kind::scatter> Policy = automatic>
    requires(!std::is_const_v<T>) auto operator()(Comm&& comm, T* out, N n, int root,
                                                  Policy const& policy = {}) const -> result {
        auto call = this->template describe<Policy, T>(nullptr, 0, out);
        call.in_kind = call_description::input::of_others;
        return parts<T>(rank_sizes::of_own(static_cast<std::size_t>(n)), root, comm, std::move(call), policy);
    }
    /// The elements are in a vector.
    template <communicator Comm, transportable T, counts_range Sizes,
              collective_policy<collective_kind::scatter> Policy = automatic>
    auto operator()(Comm&& comm, std::vector<T> const& in, Sizes const& sizes,
                    std::type_identity_t<place_for<T>> out, int root, Policy const& policy = {}) const
        -> result {
        auto call = this->template describe<Policy>(in.data(), 0, out);
        call.in_size = in.size();
        return parts<T>(rank_sizes(sizes), root, comm, std::move(call), policy);
    }
    template <communicator Comm, transportable T, counts_range Sizes, counts_range Displacements,
              collective_policy<collective_kind::scatter> Policy = automatic>
    auto operator()(Comm&& comm, std::vector<T> const& in, Sizes const& sizes,
                    Displacements const& displacements, std::type_identity_t<place_for<T>> out, std::size_t n,
                    int root, Policy const& policy = {}) const -> result {
        auto call = this->template describe<Policy>(in.data(), 0, out);
        call.in_size = in.size();
        return parts<T>(rank_sizes(sizes, displacements).with_own(n), root, comm, std::move(call), policy);
    }
    /// At the root, whose own part stays where it is.
    template <communicator Comm, in_place_array V, counts_range Sizes,
              collective_policy<collective_kind::scatter> Policy = automatic>
    auto operator()(Comm&& comm, V values, Sizes const& sizes, int root, Policy const& policy = {}) const
        -> result {
        return parts<in_place_array_element<V>>(rank_sizes(sizes), root, comm,
                                                this->template describe<Policy>(values, 0), policy);
    }
    template <communicator Comm, in_place_array V, counts_range Sizes, counts_range Displacements,
              collective_policy<collective_kind::scatter> Policy = automatic>
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
        return scatterv_function::make(comm, std::move(call), policy);
    }
};

} // namespace detail

/// Gives rank r sizes[r] elements of the root's: those at in + displacements[r]; without displacements the
/// parts follow each other.
///
///     scatterv(comm, in, sizes, out, root[, policy])                      in and out are pointers or vectors
///     scatterv(comm, in, sizes, displacements, out, n, root[, policy])    n elements of this rank
///     scatterv(comm, out, n, root[, policy])                              on ranks other than the root
///     scatterv(comm, inplace(values), sizes[, displacements], root[, policy])   at the root, whose own stay
///
/// Sizes and displacements, any contiguous ranges of integers, count at the root, and of sizes without an n
/// behind also the rank's own. Must agree: the root and the policy with all its members on all ranks,
/// sizes[r] with the n of rank r. Sizes of zero are welcome, and parts may overlap.
///
/// Cost: the parts of the others over the root's link, one message for each with `linear`.
///
/// Throws std::invalid_argument, before any message of the operation, for a root that is no rank, at the root
/// for sizes or displacements that are negative or not one per rank, for null data, overlapping buffers,
/// members of the policy that cannot be and policies that need equal sizes (knomial_tree); with agreed
/// checks on all ranks if it does on any. A part of another size than a rank expects throws std::length_error
/// there. Throws mpi_error where MPI fails.
///
///     papcoll::scatterv(world, all.data(), sizes, mine.data(), 0);
inline constexpr detail::explained<detail::scatterv_function<true>> scatterv{};

/// scatterv that returns at once; the buffers must stay until the request has ended, sizes and displacements
/// need not.
///
/// papcoll must be attached to `comm`, else it throws std::logic_error; the policy `native` does without.
/// Without MPI_THREAD_MULTIPLE the operation progresses inside papcoll's calls alone: do not wait by other
/// means for a rank that waits for this request, or call progress() meanwhile. See request.
///
///     auto request = papcoll::iscatterv(world, all.data(), sizes, mine.data(), 0);
inline constexpr detail::explained<detail::scatterv_function<false>> iscatterv{};

/// plan_scatterv<T>(comm, sizes[, displacements], root[, policy]), on ranks other than the root also
/// plan_scatterv<T>(comm, n, root[, policy]), prepares scatters of these sizes, which `run(in, out)`,
/// `run(out)` on ranks other than the root, or `run(inplace(values))` makes. Collective, on an attached
/// `comm` (see attach). Throws as scatterv does.
///
///     auto deal_out = papcoll::plan_scatterv<float>(world, sizes, 0);
///     deal_out.run(all.data(), mine.data());
template <class T>
inline constexpr detail::plan_uneven_function<T, collective_kind::scatter> plan_scatterv{};

} // namespace papcoll::inline v0
