// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/begin.hpp>
#include <papcoll/collective/plan.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>

namespace papcoll::inline v0 {

namespace detail {

template <class T>
struct broadcast_call {
    static constexpr auto operation = collective_kind::broadcast;
    using value_type = T;

    T* values;
    std::size_t n;
    int root;

    template <class Policy>
    static constexpr void require() {
        require_value<Policy, T>();
        static_assert(!std::is_const_v<T>, "papcoll: a broadcast writes its values; they must not be const");
    }
    void bind(T* new_values) { values = new_values; }

    [[nodiscard]] auto shape(int ranks, int rank) const -> call_shape {
        call_shape s{.operation = operation, .ranks = ranks, .rank = rank, .root = root};
        set_elements<T>(s, n);
        return s;
    }
    void check_shape(call_shape const& s) const {
        check_root(s);
        check_count(n, sizeof(T));
    }
    void check_buffers(call_shape const&) const {
        if (n > 0 && values == nullptr) reject("values must not be null when there are elements");
    }
    [[nodiscard]] auto memory() const -> call_memory { return memory_of<T>(nullptr, values, n); }
    [[nodiscard]] auto native_operation(MPI_Comm comm) const -> std::shared_ptr<papcoll::operation> {
        return std::make_shared<native_broadcast_operation<T>>(comm, values, n, root);
    }
    void native_blocking(MPI_Comm comm) const { native_broadcast(comm, values, n, root); }
};

template <bool Blocking>
struct broadcast_function : collective_forms<Blocking> {
    using typename collective_forms<Blocking>::result;
    template <class P>
    static constexpr bool accepts = collective_policy<P, collective_kind::broadcast>;

    /// n elements.
    template <communicator Comm, class T, class Policy = automatic>
    requires accepts<Policy>
    auto operator()(Comm&& comm, T* values, std::size_t n, int root, Policy const& policy = {}) const
        -> result {
        return this->call(comm, broadcast_call<T>{values, n, root}, policy);
    }
    /// One element.
    template <communicator Comm, class T, class Policy = automatic>
    requires accepts<Policy> && is_scalar_argument<T>
    auto operator()(Comm&& comm, T& value, int root, Policy const& policy = {}) const -> result {
        return this->call(comm, broadcast_call<T>{&value, 1, root}, policy);
    }
};

template <class T>
struct plan_broadcast_function {
    template <communicator Comm, class Policy = automatic>
    requires collective_policy<Policy, collective_kind::broadcast>
    [[nodiscard]] auto operator()(Comm const& comm, std::size_t n, int root,
                                  Policy const& policy = {}) const {
        return make_plan(comm, broadcast_call<T>{nullptr, n, root}, policy);
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
inline constexpr detail::broadcast_function<true> broadcast{};

/// broadcast that returns at once; the values must stay, untouched, until the request has ended.
///
/// papcoll must be attached to `comm`, else it throws std::logic_error; the policy `native` does without.
/// Without MPI_THREAD_MULTIPLE the operation progresses inside papcoll's calls alone: do not wait by other
/// means for a rank that waits for this request, or call progress() meanwhile. See request.
inline constexpr detail::broadcast_function<false> ibroadcast{};

/// plan_broadcast<T>(comm, n, root[, policy]) prepares broadcasts of n elements of type T, which
/// `run(values)` makes. Collective, on an attached `comm` (see attach). Throws as broadcast does.
template <class T>
inline constexpr detail::plan_broadcast_function<T> plan_broadcast{};

} // namespace papcoll::inline v0
