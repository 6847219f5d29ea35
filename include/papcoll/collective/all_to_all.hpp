// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/begin.hpp>
#include <papcoll/collective/output.hpp>
#include <papcoll/collective/plan.hpp>

#include <boost/mpi/inplace.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

template <class T>
struct all_to_all_call {
    static constexpr auto operation = collective_kind::all_to_all;
    using value_type = T;

    T const* in; // in place: out
    output<T> out;
    bool in_place;
    std::size_t n;
    std::optional<std::size_t> in_size = {}; // of a vector

    template <class Policy>
    static constexpr void require() {
        require_transportable<T>();
    }
    void bind(T const* new_in, T* new_out) {
        in = new_in;
        out = new_out;
        in_place = false;
    }
    void bind(boost::mpi::inplace_t<T*> values) {
        in = values.buffer;
        out = values.buffer;
        in_place = true;
    }

    [[nodiscard]] auto shape(int ranks, int rank) const -> call_shape {
        call_shape s{.operation = operation, .ranks = ranks, .rank = rank, .root = 0};
        s.in_place = in_place;
        s.count = n * static_cast<std::size_t>(ranks);
        s.element_bytes = sizeof(T);
        return s;
    }
    void check_shape(call_shape const& s) const {
        check_count(n, sizeof(T) * static_cast<std::size_t>(s.ranks));
        if (in_size && *in_size != s.count)
            reject("in must have n elements for each rank (" + std::to_string(s.count) + "), but has " +
                   std::to_string(*in_size));
    }
    void check_buffers(call_shape const& s) const {
        if (n == 0) return;
        if (!in_place && in == nullptr) reject("in must not be null when there are elements");
        if (out.is_null()) reject("out must not be null when there are elements");
        if (!in_place && !out.is_apart_from(in, s.count, s.count))
            reject("in and out overlap; to exchange in place pass boost::mpi::inplace(values)");
    }
    void make_room(call_shape const& s) const { out.make_room(s.count); }
    [[nodiscard]] auto memory() const -> call_memory { return memory_of<T>(in, out.data()); }
    [[nodiscard]] auto native_operation(MPI_Comm comm) const -> std::shared_ptr<papcoll::operation> {
        return std::make_shared<native_all_to_all_operation<T>>(comm, in, n, out.data());
    }
    void native_blocking(MPI_Comm comm) const { native_all_to_all(comm, in, n, out.data()); }
};

/// The forms of Boost.MPI's all_to_all, each with a policy behind.
template <bool Blocking>
struct all_to_all_function : collective_forms<Blocking> {
    using typename collective_forms<Blocking>::result;
    template <class P>
    static constexpr bool accepts = collective_policy<P, collective_kind::all_to_all>;

    /// n elements for each rank.
    template <communicator Comm, class T, class Policy = automatic>
    requires accepts<Policy>
    auto operator()(Comm&& comm, T const* in, std::size_t n, std::type_identity_t<T>* out,
                    Policy const& policy = {}) const -> result {
        return this->call(comm, all_to_all_call<T>{in, out, false, n}, policy);
    }
    /// n elements for each rank; `out` is resized.
    template <communicator Comm, class T, class Policy = automatic>
    requires accepts<Policy>
    auto operator()(Comm&& comm, std::vector<T> const& in, std::size_t n, std::vector<T>& out,
                    Policy const& policy = {}) const -> result {
        return this->call(comm, all_to_all_call<T>{in.data(), out, false, n, in.size()}, policy);
    }
    /// n elements for each rank, in place: rank r's come where those for it were.
    template <communicator Comm, class T, class Policy = automatic>
    requires accepts<Policy>
    auto operator()(Comm&& comm, boost::mpi::inplace_t<T*> values, std::size_t n,
                    Policy const& policy = {}) const -> result {
        return this->call(comm, all_to_all_call<T>{values.buffer, values.buffer, true, n}, policy);
    }
    /// One element for each rank.
    template <communicator Comm, class T, class Policy = automatic>
    requires accepts<Policy>
    auto operator()(Comm&& comm, T const* in, std::type_identity_t<T>* out, Policy const& policy = {}) const
        -> result {
        return this->call(comm, all_to_all_call<T>{in, out, false, 1}, policy);
    }
    /// One element for each rank; `out` is resized.
    template <communicator Comm, class T, class Policy = automatic>
    requires accepts<Policy>
    auto operator()(Comm&& comm, std::vector<T> const& in, std::vector<T>& out,
                    Policy const& policy = {}) const -> result {
        return (*this)(comm, in, 1, out, policy);
    }
};

template <class T>
struct plan_all_to_all_function {
    template <communicator Comm, class Policy = automatic>
    requires collective_policy<Policy, collective_kind::all_to_all>
    [[nodiscard]] auto operator()(Comm const& comm, std::size_t n, Policy const& policy = {}) const {
        return make_plan(comm, all_to_all_call<T>{nullptr, nullptr, false, n}, policy);
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
inline constexpr detail::all_to_all_function<true> all_to_all{};

/// all_to_all that returns at once; the buffers must stay until the request has ended.
///
/// papcoll must be attached to `comm`, else it throws std::logic_error; the policy `native` does without.
/// Without MPI_THREAD_MULTIPLE the operation progresses inside papcoll's calls alone: do not wait by other
/// means for a rank that waits for this request, or call progress() meanwhile. See request.
inline constexpr detail::all_to_all_function<false> iall_to_all{};

/// plan_all_to_all<T>(comm, n[, policy]) prepares all-to-alls of n elements of type T for each rank, which
/// `run(in, out)` or `run(inplace(values))` makes. Collective, on an attached `comm` (see attach).
/// Throws as all_to_all does.
template <class T>
inline constexpr detail::plan_all_to_all_function<T> plan_all_to_all{};

} // namespace papcoll::inline v0
