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
struct all_gather_call {
    static constexpr auto operation = collective_kind::all_gather;
    using value_type = T;

    T const* in; // in place: null
    output<T> out;
    bool in_place;
    std::size_t n;

    template <class Policy>
    static constexpr void require() {
        require_value<Policy, T>();
    }
    void bind(T const* new_in, T* new_out) {
        in = new_in;
        out = new_out;
        in_place = false;
    }
    void bind(boost::mpi::inplace_t<T*> values) {
        in = nullptr;
        out = values.buffer;
        in_place = true;
    }

    [[nodiscard]] auto shape(int ranks, int rank) const -> call_shape {
        call_shape s{.operation = operation, .ranks = ranks, .rank = rank, .root = 0};
        s.in_place = in_place;
        set_elements<T>(s, n, static_cast<std::size_t>(ranks));
        return s;
    }
    void check_shape(call_shape const& s) const {
        check_count(n, sizeof(T) * static_cast<std::size_t>(s.ranks));
    }
    void check_buffers(call_shape const& s) const {
        if (n == 0) return;
        if (in == nullptr && !in_place) reject("in must not be null when there are elements");
        if (out.is_null()) reject("out must not be null when there are elements");
        if (!in_place && !out.is_apart_from(in, n, n * static_cast<std::size_t>(s.ranks)))
            reject("in and out overlap; to gather in place pass boost::mpi::inplace(values)");
    }
    void make_room(call_shape const& s) const { out.make_room(n * static_cast<std::size_t>(s.ranks)); }
    [[nodiscard]] auto memory() const -> call_memory { return memory_of<T>(in, out.data(), n); }
    [[nodiscard]] auto native_operation(MPI_Comm comm) const -> std::shared_ptr<papcoll::operation> {
        return std::make_shared<native_all_gather_operation<T>>(comm, native_in(comm), n, out.data());
    }
    void native_blocking(MPI_Comm comm) const { native_all_gather(comm, native_in(comm), n, out.data()); }

private:
    [[nodiscard]] auto own(int rank) const -> std::size_t { return n * static_cast<std::size_t>(rank); }
    [[nodiscard]] auto native_in(MPI_Comm comm) const -> T const* {
        return in_place ? out.data() + own(rank_of(comm)) : in;
    }
};

/// The forms of Boost.MPI's all_gather, each with a policy behind.
template <bool Blocking>
struct all_gather_function : collective_forms<Blocking> {
    using typename collective_forms<Blocking>::result;
    template <class P>
    static constexpr bool accepts = collective_policy<P, collective_kind::all_gather>;

    /// n elements each.
    template <communicator Comm, class T, class Policy = automatic>
    requires accepts<Policy>
    auto operator()(Comm&& comm, T const* in, std::size_t n, std::type_identity_t<T>* out,
                    Policy const& policy = {}) const -> result {
        return this->call(comm, all_gather_call<T>{in, out, false, n}, policy);
    }
    /// n elements each; `out` is resized.
    template <communicator Comm, class T, class Policy = automatic>
    requires accepts<Policy>
    auto operator()(Comm&& comm, T const* in, std::size_t n, std::vector<T>& out,
                    Policy const& policy = {}) const -> result {
        return this->call(comm, all_gather_call<T>{in, out, false, n}, policy);
    }
    /// n elements each, in place: rank r's are at values + r n before.
    template <communicator Comm, class T, class Policy = automatic>
    requires accepts<Policy>
    auto operator()(Comm&& comm, boost::mpi::inplace_t<T*> values, std::size_t n,
                    Policy const& policy = {}) const -> result {
        return this->call(comm, all_gather_call<T>{nullptr, values.buffer, true, n}, policy);
    }
    /// One element each.
    template <communicator Comm, class T, class Policy = automatic>
    requires accepts<Policy> && is_scalar_argument<T>
    auto operator()(Comm&& comm, T const& in, std::type_identity_t<T>* out, Policy const& policy = {}) const
        -> result {
        return this->call(comm, all_gather_call<T>{&in, out, false, 1}, policy);
    }
    /// One element each; `out` is resized.
    template <communicator Comm, class T, class Policy = automatic>
    requires accepts<Policy> && is_scalar_argument<T>
    auto operator()(Comm&& comm, T const& in, std::vector<T>& out, Policy const& policy = {}) const
        -> result {
        return (*this)(comm, &in, 1, out, policy);
    }
};

template <class T>
struct plan_all_gather_function {
    template <communicator Comm, class Policy = automatic>
    requires collective_policy<Policy, collective_kind::all_gather>
    [[nodiscard]] auto operator()(Comm const& comm, std::size_t n, Policy const& policy = {}) const {
        return make_plan(comm, all_gather_call<T>{nullptr, nullptr, false, n}, policy);
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
inline constexpr detail::all_gather_function<true> all_gather{};

/// all_gather that returns at once; the buffers must stay until the request has ended.
///
/// papcoll must be attached to `comm`, else it throws std::logic_error; the policy `native` does without.
/// Without MPI_THREAD_MULTIPLE the operation progresses inside papcoll's calls alone: do not wait by other
/// means for a rank that waits for this request, or call progress() meanwhile. See request.
inline constexpr detail::all_gather_function<false> iall_gather{};

/// plan_all_gather<T>(comm, n[, policy]) prepares all-gathers of n elements of type T per rank, which
/// `run(in, out)` or `run(inplace(values))` makes. Collective, on an attached `comm` (see attach).
/// Throws as all_gather does.
template <class T>
inline constexpr detail::plan_all_gather_function<T> plan_all_gather{};

} // namespace papcoll::inline v0
