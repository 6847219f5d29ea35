// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/begin.hpp>
#include <papcoll/collective/output.hpp>
#include <papcoll/collective/plan.hpp>

#include <boost/mpi/inplace.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

template <class T>
struct gather_call {
    static constexpr auto operation = collective_kind::gather;
    using value_type = T;

    T const* in;   // in place at the root: null
    output<T> out; // counts at the root
    bool in_place;
    std::size_t n;
    int root;

    template <class Policy>
    static constexpr void require() {
        require_transportable<T>();
    }
    void bind(T const* new_in, T* new_out) {
        in = new_in;
        out = new_out;
        in_place = false;
    }
    void bind(T const* new_in) { bind(new_in, nullptr); }
    void bind(boost::mpi::inplace_t<T*> values) {
        in = nullptr;
        out = values.buffer;
        in_place = true;
    }

    [[nodiscard]] auto shape(int ranks, int rank) const -> call_shape {
        call_shape s{.operation = operation, .ranks = ranks, .rank = rank, .root = root};
        s.in_place = in_place;
        s.count = n * static_cast<std::size_t>(ranks);
        s.element_bytes = sizeof(T);
        return s;
    }
    void check_shape(call_shape const& s) const {
        check_root(s);
        check_count(n, sizeof(T) * static_cast<std::size_t>(s.ranks));
    }
    void check_buffers(call_shape const& s) const {
        if (in_place && s.rank != s.root)
            reject("inplace(values) is for the root; other ranks pass their elements");
        if (n == 0) return;
        if (in == nullptr && !in_place) reject("in must not be null when there are elements");
        if (s.rank != s.root) return;
        if (out.is_null()) reject("out must not be null at the root when there are elements");
        if (!in_place && !out.is_apart_from(in, n, s.count))
            reject("in and out overlap; to gather in place pass boost::mpi::inplace(values)");
    }
    void make_room(call_shape const& s) const {
        if (s.rank == s.root) out.make_room(s.count);
    }
    [[nodiscard]] auto memory() const -> call_memory { return memory_of<T>(in, out.data()); }
    [[nodiscard]] auto native_operation(MPI_Comm comm) const -> std::shared_ptr<papcoll::operation> {
        return std::make_shared<native_gather_operation<T>>(comm, native_in(), n, out.data(), root);
    }
    void native_blocking(MPI_Comm comm) const { native_gather(comm, native_in(), n, out.data(), root); }

private:
    [[nodiscard]] auto own(int rank) const -> std::size_t { return n * static_cast<std::size_t>(rank); }
    [[nodiscard]] auto native_in() const -> T const* { return in_place ? out.data() + own(root) : in; }
};

/// The forms of Boost.MPI's gather, each with a policy behind.
template <bool Blocking>
struct gather_function : collective_forms<Blocking> {
    using typename collective_forms<Blocking>::result;
    template <class P>
    static constexpr bool accepts = collective_policy<P, collective_kind::gather>;

    /// n elements each; `out` counts at the root alone.
    template <communicator Comm, class T, class Policy = automatic>
    requires accepts<Policy>
    auto operator()(Comm&& comm, T const* in, std::size_t n, std::type_identity_t<T>* out, int root,
                    Policy const& policy = {}) const -> result {
        return this->call(comm, gather_call<T>{in, out, false, n, root}, policy);
    }
    /// n elements each; `out` is resized at the root.
    template <communicator Comm, class T, class Policy = automatic>
    requires accepts<Policy>
    auto operator()(Comm&& comm, T const* in, std::size_t n, std::vector<T>& out, int root,
                    Policy const& policy = {}) const -> result {
        return this->call(comm, gather_call<T>{in, out, false, n, root}, policy);
    }
    /// On ranks other than the root.
    template <communicator Comm, class T, class Policy = automatic>
    requires accepts<Policy>
    auto operator()(Comm&& comm, T const* in, std::size_t n, int root, Policy const& policy = {}) const
        -> result {
        return this->call(comm, gather_call<T>{in, nullptr, false, n, root}, policy);
    }
    /// At the root, whose elements are at values + root n before.
    template <communicator Comm, class T, class Policy = automatic>
    requires accepts<Policy>
    auto operator()(Comm&& comm, boost::mpi::inplace_t<T*> values, std::size_t n, int root,
                    Policy const& policy = {}) const -> result {
        return this->call(comm, gather_call<T>{nullptr, values.buffer, true, n, root}, policy);
    }
    /// One element each.
    template <communicator Comm, class T, class Policy = automatic>
    requires accepts<Policy> && is_scalar_argument<T>
    auto operator()(Comm&& comm, T const& in, std::type_identity_t<T>* out, int root,
                    Policy const& policy = {}) const -> result {
        return this->call(comm, gather_call<T>{&in, out, false, 1, root}, policy);
    }
    /// One element each; `out` is resized at the root.
    template <communicator Comm, class T, class Policy = automatic>
    requires accepts<Policy> && is_scalar_argument<T>
    auto operator()(Comm&& comm, T const& in, std::vector<T>& out, int root, Policy const& policy = {}) const
        -> result {
        return (*this)(comm, &in, 1, out, root, policy);
    }
    /// One element, on ranks other than the root.
    template <communicator Comm, class T, class Policy = automatic>
    requires accepts<Policy> && is_scalar_argument<T>
    auto operator()(Comm&& comm, T const& in, int root, Policy const& policy = {}) const -> result {
        return this->call(comm, gather_call<T>{&in, nullptr, false, 1, root}, policy);
    }
};

template <class T>
struct plan_gather_function {
    template <communicator Comm, class Policy = automatic>
    requires collective_policy<Policy, collective_kind::gather>
    [[nodiscard]] auto operator()(Comm const& comm, std::size_t n, int root,
                                  Policy const& policy = {}) const {
        return make_plan(comm, gather_call<T>{nullptr, nullptr, false, n, root}, policy);
    }
};

} // namespace detail

/// Collects the n elements of every rank at the root: those of rank r at out + r n.
///
///     gather(comm, in, n, out, root[, policy])           n elements; out is a pointer or a std::vector
///     gather(comm, in, n, root[, policy])                the same, on ranks other than the root
///     gather(comm, in, out, root[, policy])              single values
///     gather(comm, in, root[, policy])                   the same, on ranks other than the root
///     gather(comm, inplace(values), n, root[, policy])   at the root, with its own at values + root n
///
/// Must agree on all ranks: n, the root, and the policy with all its members. Elements arrive in place; only
/// the root's own are copied.
///
/// Cost: P − 1 parts over the root's link; with `linear` and `sorted_linear` in as many messages, with
/// `binomial_gather` in ⌈log2 P⌉, for which inner ranks keep parts of others meanwhile.
///
/// Throws std::invalid_argument, before any message of the operation, for a root that is no rank, null data,
/// a number of elements that memory cannot hold, overlapping buffers and members of the policy that cannot
/// be; with agreed checks on all ranks if it does on any, or if they disagree. A std::vector overlaps `in`
/// where any of its memory does, and is resized as in reduce. Throws mpi_error where MPI fails.
///
///     papcoll::gather(world, mine.data(), mine.size(), all, 0, papcoll::sorted_linear{.arrivals = times});
inline constexpr detail::gather_function<true> gather{};

/// gather that returns at once; the buffers must stay until the request has ended.
///
/// papcoll must be attached to `comm`, else it throws std::logic_error; the policy `native` does without.
/// Without MPI_THREAD_MULTIPLE the operation progresses inside papcoll's calls alone: do not wait by other
/// means for a rank that waits for this request, or call progress() meanwhile. See request.
inline constexpr detail::gather_function<false> igather{};

/// plan_gather<T>(comm, n, root[, policy]) prepares gathers of n elements of type T per rank, which `run(in,
/// out)`, `run(in)` on ranks other than the root, or `run(inplace(values))` makes. Collective, on an
/// attached `comm` (see attach). Throws as gather does.
template <class T>
inline constexpr detail::plan_gather_function<T> plan_gather{};

} // namespace papcoll::inline v0
