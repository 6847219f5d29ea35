// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/begin.hpp>
#include <papcoll/collective/output.hpp>
#include <papcoll/collective/plan.hpp>
#include <papcoll/operators/operators.hpp>

#include <boost/mpi/inplace.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

template <class T, class Op>
struct all_reduce_call {
    static constexpr auto operation = collective_kind::all_reduce;
    using value_type = T;

    T const* in;
    output<T> out;
    bool in_place;
    std::size_t n;
    Op op;

    template <class Policy>
    static constexpr void require() {
        require_operand_order<Policy, Op, T>();
        if constexpr (serializable<T> && !std::same_as<Policy, native>)
            static_assert(
                Policy::provides(collective_kind::reduce),
                "papcoll: values that must be serialized are all-reduced by a reduction to a root and "
                "the way back, which this policy does not have; choose another, such as arrival_tree");
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
        set_elements<T>(s, n);
        s.commutative = is_commutative<Op, T>::value;
        s.exact = is_exactly_associative<Op, T>::value && !serializable<T>;
        return s;
    }
    void check_shape(call_shape const&) const { check_count(n, sizeof(T)); }
    void check_buffers(call_shape const&) const {
        if (n == 0) return;
        if (in == nullptr) reject("in must not be null when there are elements");
        if (out.is_null()) reject("out must not be null when there are elements");
        if (!in_place && !out.is_apart_from(in, n, n))
            reject("in and out overlap; to reduce in place pass boost::mpi::inplace(values)");
    }
    void make_room(call_shape const&) const { out.make_room(n); }
    [[nodiscard]] auto memory() const -> call_memory { return memory_of<T>(in, out.data(), n, op); }
    [[nodiscard]] auto native_operation(MPI_Comm comm) const -> std::shared_ptr<papcoll::operation> {
        return std::make_shared<native_all_reduce_operation<T, Op>>(comm, in, n, out.data(), op);
    }
    void native_blocking(MPI_Comm comm) const { native_all_reduce(comm, in, n, out.data(), op); }
};

/// The forms of Boost.MPI's all_reduce, each with a policy behind.
template <bool Blocking>
struct all_reduce_function : collective_forms<Blocking> {
    using typename collective_forms<Blocking>::result;
    template <class P>
    static constexpr bool accepts = collective_policy<P, collective_kind::all_reduce>;

    template <class T, class Comm, class Op, class Policy>
    static auto call(Comm& comm, all_reduce_call<T, Op> const& description, Policy const& policy) -> result {
        return collective_forms<Blocking>::call(comm, description, policy);
    }

    /// n elements each.
    template <communicator Comm, class T, reduction_operator<T> Op, class Policy = automatic>
    requires accepts<Policy>
    auto operator()(Comm&& comm, T const* in, std::size_t n, std::type_identity_t<T>* out, Op op,
                    Policy const& policy = {}) const -> result {
        return this->call(comm, all_reduce_call<T, Op>{in, out, false, n, std::move(op)}, policy);
    }
    /// In place.
    template <communicator Comm, class T, reduction_operator<T> Op, class Policy = automatic>
    requires accepts<Policy>
    auto operator()(Comm&& comm, boost::mpi::inplace_t<T*> values, std::size_t n, Op op,
                    Policy const& policy = {}) const -> result {
        return this->call(comm, all_reduce_call<T, Op>{values.buffer, values.buffer, true, n, std::move(op)},
                          policy);
    }
    /// One element each, in place.
    template <communicator Comm, class T, reduction_operator<T> Op, class Policy = automatic>
    requires accepts<Policy>
    auto operator()(Comm&& comm, boost::mpi::inplace_t<T> value, Op op, Policy const& policy = {}) const
        -> result {
        return this->call(comm, all_reduce_call<T, Op>{&value.buffer, &value.buffer, true, 1, std::move(op)},
                          policy);
    }
    /// One element each.
    template <communicator Comm, scalar_argument T, reduction_operator<T> Op, class Policy = automatic>
    requires accepts<Policy>
    auto operator()(Comm&& comm, T const& in, std::type_identity_t<T>& out, Op op,
                    Policy const& policy = {}) const -> result {
        return this->call(comm, all_reduce_call<T, Op>{&in, &out, false, 1, std::move(op)}, policy);
    }
    /// One element each; returns the result.
    template <communicator Comm, scalar_argument T, reduction_operator<T> Op, class Policy = automatic>
    requires accepts<Policy> && Blocking [[nodiscard]] auto operator()(Comm&& comm, T const& in, Op op,
                                                                       Policy const& policy = {}) const -> T {
        T out{};
        this->call(comm, all_reduce_call<T, Op>{&in, &out, false, 1, std::move(op)}, policy);
        return out;
    }
    /// Vectors of equal size on all ranks; `out` is resized.
    template <communicator Comm, class T, reduction_operator<T> Op, class Policy = automatic>
    requires accepts<Policy>
    auto operator()(Comm&& comm, std::vector<T> const& in, std::vector<T>& out, Op op,
                    Policy const& policy = {}) const -> result {
        return this->call(comm, all_reduce_call<T, Op>{in.data(), out, false, in.size(), std::move(op)},
                          policy);
    }
};

template <class T>
struct plan_all_reduce_function {
    template <communicator Comm, reduction_operator<T> Op, class Policy = automatic>
    requires collective_policy<Policy, collective_kind::all_reduce>
    [[nodiscard]] auto operator()(Comm const& comm, std::size_t n, Op op, Policy const& policy = {}) const {
        return make_plan(comm, all_reduce_call<T, Op>{nullptr, nullptr, false, n, std::move(op)}, policy);
    }
};

} // namespace detail

/// Combines the `in` of all ranks element by element and leaves the result, the same to the bit, in `out` on
/// all of them.
///
///     all_reduce(comm, in, n, out, op[, policy])        n elements
///     all_reduce(comm, inplace(values), n, op[, policy])
///     all_reduce(comm, in, out, op[, policy])           single values, or std::vectors of one size
///     all_reduce(comm, in, op[, policy])                a single value; returns the result
///
/// Must agree on all ranks: the count, the policy with all its members, what the operator computes, and
/// whether its type says that it commutes (a lambda does not, std::plus does).
///
/// The results have the same bits on all ranks, the signs and payloads of NaNs among them, where all ranks
/// run the same program on processors of one kind. Two cases are in other hands: with `native` the MPI
/// library decides, and a census (see below) relies on is_exactly_associative, also for NaNs.
///
/// Cost with `circulant` for m bytes: 2·⌈log2 P⌉ rounds that move 2·(P − 1)/P·m in all (a reduce-scatter and
/// an all-gather), or, when that is shorter, ⌊log2 P⌋ rounds of partial results (a butterfly; two rounds more
/// unless P is a power of two), ⌈log2 P⌉ rounds of all the operands, combined on every rank in the order of
/// ranks, or of partial results (a census), where the operator is exactly associative. In memory about m
/// bytes of blocks beyond the user's, 2m for a butterfly; P·m for the shortest operands.
///
/// Throws std::invalid_argument, before any message of the operation, for null data, overlapping buffers and
/// members of the policy that cannot be; with agreed checks on all ranks if it does on any, or if they
/// disagree. An exception of the operator is rethrown where it was thrown, after the communication is
/// complete; ranks that miss a result for it throw missing_value_error. A message of another length than
/// expected throws std::length_error where it arrives. Results are then unspecified. Throws mpi_error where
/// MPI fails.
///
/// Values that must be serialized are reduced to rank 0 and broadcast from there, see reduce.
///
///     double const residual = papcoll::all_reduce(world, mine, std::plus<>(), papcoll::circulant{});
inline constexpr detail::all_reduce_function<true> all_reduce{};

/// all_reduce that returns at once; the buffers must stay until the request has ended.
///
/// papcoll must be attached to `comm`, else it throws std::logic_error; the policy `native` does without.
/// Without MPI_THREAD_MULTIPLE the operation progresses inside papcoll's calls alone: do not wait by other
/// means for a rank that waits for this request, or call progress() meanwhile. See request.
inline constexpr detail::all_reduce_function<false> iall_reduce{};

/// plan_all_reduce<T>(comm, n, op[, policy]) prepares all-reduces of n elements of type T, which `run(in,
/// out)` or `run(inplace(values))` makes. Collective, on an attached `comm` (see attach). Throws as
/// all_reduce does.
template <class T>
inline constexpr detail::plan_all_reduce_function<T> plan_all_reduce{};

} // namespace papcoll::inline v0
