// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/explained.hpp>
#include <papcoll/collective/forms.hpp>
#include <papcoll/collective/plan.hpp>

#include <cstddef>
#include <utility>

namespace papcoll::inline v0 {

namespace detail {

template <bool Blocking>
struct broadcast_function : collective_forms<collective_kind::broadcast, Blocking> {
    using typename collective_forms<collective_kind::broadcast, Blocking>::result;

    /// n elements.
    template <communicator Comm, class T, collective_policy<collective_kind::broadcast, T> Policy = automatic>
    auto operator()(Comm&& comm, T* values, std::size_t n, int root, Policy const& policy = {}) const
        -> result {
        auto call = this->template described<Policy, T>();
        call.out = const_cast<std::remove_const_t<T>*>(values); // NOLINT: refused above
        call.n = n;
        call.root = root;
        return this->make(comm, std::move(call), policy);
    }
    /// One element.
    template <communicator Comm, argument_value T,
              collective_policy<collective_kind::broadcast, T> Policy = automatic>
    auto operator()(Comm&& comm, T& value, int root, Policy const& policy = {}) const -> result {
        return (*this)(comm, &value, 1, root, policy);
    }
};

template <class T>
struct plan_broadcast_function {
    template <communicator Comm, collective_policy<collective_kind::broadcast> Policy = automatic>
    [[nodiscard]] auto operator()(Comm const& comm, std::size_t n, int root,
                                  Policy const& policy = {}) const {
        auto call = broadcast_function<true>::described<Policy, T>();
        call.n = n;
        call.root = root;
        return collective_plan<Comm, T, collective_kind::broadcast>(comm, std::move(call), policy);
    }
};

} // namespace detail

/// Copies the root's values to all ranks.
///
///     broadcast(comm, values, n, root[, policy])     n elements
///     broadcast(comm, value, root[, policy])         a single one
///
/// Must agree on all ranks: the count, the root, and the policy with all its members. The values arrive in
/// place, without a copy in between.
///
/// Cost with `circulant` for n blocks: n − 1 + ⌈log2 P⌉ rounds of one block's transfer time, the fewest
/// possible.
///
/// Throws std::invalid_argument, before any message of the operation, for a root that is no rank, null data
/// and members of the policy that cannot be; with agreed checks on all ranks if it does on any, or if they
/// disagree. Throws mpi_error where MPI fails.
///
/// Values without an MPI datatype travel serialized, see reduce for which they are: the root saves them,
/// others pass the bytes on and load them at the end. A value that cannot be loaded throws on that rank
/// alone; one that cannot be saved throws missing_value_error on all others.
///
///     papcoll::broadcast(world, table.data(), table.size(), 0, papcoll::circulant{});
inline constexpr detail::explained<detail::broadcast_function<true>> broadcast{};

/// broadcast that returns at once; the values must stay, untouched, until the request has ended.
///
/// papcoll must be attached to `comm`, else it throws std::logic_error; the policy `native` does without.
/// Without MPI_THREAD_MULTIPLE the operation progresses inside papcoll's calls alone: do not wait by other
/// means for a rank that waits for this request, or call progress() meanwhile. See request.
///
///     auto request = papcoll::ibroadcast(world, table.data(), table.size(), 0);
inline constexpr detail::explained<detail::broadcast_function<false>> ibroadcast{};

/// plan_broadcast<T>(comm, n, root[, policy]) prepares broadcasts of n elements of type T, which
/// `run(values)` makes. Collective, on an attached `comm` (see attach). Throws as broadcast does.
///
///     auto send_table = papcoll::plan_broadcast<float>(world, table.size(), 0);
///     send_table.run(table.data());
template <class T>
inline constexpr detail::plan_broadcast_function<T> plan_broadcast{};

} // namespace papcoll::inline v0
