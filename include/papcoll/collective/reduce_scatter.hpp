// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/begin.hpp>
#include <papcoll/collective/output.hpp>
#include <papcoll/collective/plan.hpp>
#include <papcoll/collective/sizes.hpp>
#include <papcoll/operators/operators.hpp>

#include <boost/mpi/inplace.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

template <class T, class Op>
struct reduce_scatter_call {
    static constexpr auto operation = collective_kind::reduce_scatter;
    using value_type = T;

    T const* in;
    output<T> out;
    bool in_place;
    rank_sizes parts;
    Op op;

    template <class Policy>
    static constexpr void require() {
        require_transportable<T>();
        require_operand_order<Policy, Op, T>();
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
        s.count = parts.total();
        s.element_bytes = sizeof(T);
        s.commutative = is_commutative<Op, T>::value;
        s.sizes = parts.sizes();
        return s;
    }
    void check_shape(call_shape const& s) const { parts.check(s.ranks, sizeof(T)); }
    void check_buffers(call_shape const& s) const {
        if (s.count == 0) return;
        if (in == nullptr) reject("in must not be null when there are elements");
        auto const mine = own_size(s);
        if (mine > 0 && out.is_null()) reject("out must not be null when the rank has elements");
        if (!in_place && !out.is_apart_from(in, s.count, mine))
            reject("in and out overlap; to reduce in place pass boost::mpi::inplace(values)");
    }
    void make_room(call_shape const& s) const { out.make_room(own_size(s)); }
    [[nodiscard]] auto memory() const -> call_memory { return memory_of<T>(in, out.data(), 1, op); }
    [[nodiscard]] auto native_operation(MPI_Comm comm) const -> std::shared_ptr<papcoll::operation> {
        return std::make_shared<native_reduce_scatter_operation<T, Op>>(comm, in, parts.sizes(), out.data(),
                                                                        op);
    }
    void native_blocking(MPI_Comm comm) const {
        native_reduce_scatter(comm, in, parts.sizes(), out.data(), op);
    }

private:
    [[nodiscard]] auto own_size(call_shape const& s) const -> std::size_t {
        return parts.sizes()[static_cast<std::size_t>(s.rank)];
    }
};

template <bool Blocking>
struct reduce_scatter_function : collective_forms<Blocking> {
    using typename collective_forms<Blocking>::result;
    template <class P>
    static constexpr bool accepts = collective_policy<P, collective_kind::reduce_scatter>;

    /// `in` has the elements of all ranks one behind the other, `out` room for sizes[rank].
    template <communicator Comm, class T, counts_range Sizes, reduction_operator<T> Op,
              class Policy = automatic>
    requires accepts<Policy>
    auto operator()(Comm&& comm, T const* in, Sizes const& sizes, std::type_identity_t<T>* out, Op op,
                    Policy const& policy = {}) const -> result {
        return this->call(comm, reduce_scatter_call<T, Op>{in, out, false, sizes_of(sizes), std::move(op)},
                          policy);
    }
    /// In place: the result is at the beginning of `values`, the rest is unspecified.
    template <communicator Comm, class T, counts_range Sizes, reduction_operator<T> Op,
              class Policy = automatic>
    requires accepts<Policy>
    auto operator()(Comm&& comm, boost::mpi::inplace_t<T*> values, Sizes const& sizes, Op op,
                    Policy const& policy = {}) const -> result {
        return this->call(
            comm,
            reduce_scatter_call<T, Op>{values.buffer, values.buffer, true, sizes_of(sizes), std::move(op)},
            policy);
    }
    /// `in` has as many elements as the sizes say; `out` is resized to sizes[rank].
    template <communicator Comm, class T, counts_range Sizes, reduction_operator<T> Op,
              class Policy = automatic>
    requires accepts<Policy>
    auto operator()(Comm&& comm, std::vector<T> const& in, Sizes const& sizes, std::vector<T>& out, Op op,
                    Policy const& policy = {}) const -> result {
        auto parts = sizes_of(sizes);
        if (in.size() != parts.total())
            parts = parts.with_complaint("in must have as many elements as the sizes say (" +
                                         std::to_string(parts.total()) + "), but has " +
                                         std::to_string(in.size()));
        return this->call(
            comm, reduce_scatter_call<T, Op>{in.data(), out, false, std::move(parts), std::move(op)}, policy);
    }
};

template <class T>
struct plan_reduce_scatter_function {
    template <communicator Comm, counts_range Sizes, reduction_operator<T> Op, class Policy = automatic>
    requires collective_policy<Policy, collective_kind::reduce_scatter>
    [[nodiscard]] auto operator()(Comm const& comm, Sizes const& sizes, Op op,
                                  Policy const& policy = {}) const {
        return make_plan(comm,
                         reduce_scatter_call<T, Op>{nullptr, nullptr, false, sizes_of(sizes), std::move(op)},
                         policy);
    }
};

} // namespace detail

/// Combines the `in` of all ranks element by element and leaves each rank its part of the result: the first
/// sizes[0] elements on rank 0, the next sizes[1] on rank 1, and so on.
///
///     reduce_scatter(comm, in, sizes, out, op[, policy])          in and out are pointers or std::vectors
///     reduce_scatter(comm, inplace(values), sizes, op[, policy])  the result is at the beginning of values
///
/// Must agree on all ranks: the sizes (any contiguous range of integers; zeros are welcome), the policy with
/// all its members, what the operator computes, and whether its type says that it commutes.
///
/// Cost with `circulant` for m bytes: ⌈log2 P⌉ rounds of partial results of whole parts, or, where the sizes
/// are so uneven that this is shorter, n − 1 + ⌈log2 P⌉ rounds that move m/n at most, for n blocks of each
/// long part. In memory about m bytes of blocks beyond the user's.
///
/// Throws std::invalid_argument, before any message of the operation, for sizes that are negative or not one
/// per rank, null data, overlapping buffers and members of the policy that cannot be; with agreed checks on
/// all ranks if it does on any, or if they disagree. An exception of the operator is rethrown where it was
/// thrown, after the communication is complete; ranks that miss a result for it throw missing_value_error. A
/// message of another length than expected throws std::length_error where it arrives. Results are then
/// unspecified. Throws mpi_error where MPI fails.
///
///     papcoll::reduce_scatter(world, forces.data(), sizes, mine.data(), std::plus<>(),
///     papcoll::circulant{});
inline constexpr detail::reduce_scatter_function<true> reduce_scatter{};

/// reduce_scatter that returns at once; the buffers must stay until the request has ended, the sizes need
/// not.
///
/// papcoll must be attached to `comm`, else it throws std::logic_error; the policy `native` does without.
/// Without MPI_THREAD_MULTIPLE the operation progresses inside papcoll's calls alone: do not wait by other
/// means for a rank that waits for this request, or call progress() meanwhile. See request.
inline constexpr detail::reduce_scatter_function<false> ireduce_scatter{};

/// plan_reduce_scatter<T>(comm, sizes, op[, policy]) prepares reduce-scatters of these sizes, which `run(in,
/// out)` or `run(inplace(values))` makes. Collective, on an attached `comm` (see attach). Throws as
/// reduce_scatter does.
template <class T>
inline constexpr detail::plan_reduce_scatter_function<T> plan_reduce_scatter{};

} // namespace papcoll::inline v0
