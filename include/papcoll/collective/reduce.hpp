// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/call.hpp>
#include <papcoll/executor/combine.hpp>
#include <papcoll/executor/native.hpp>
#include <papcoll/operators/operators.hpp>
#include <papcoll/policy/plan_cache.hpp>

#include <boost/mpi/inplace.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The buffers of a reduction on this rank; `out` counts at the root alone.
template <class T>
struct reduce_buffers {
    T const* in;
    T* out;
    bool in_place;
};

template <class T>
void check_reduce(call_shape const& shape, reduce_buffers<T> const& buffers) {
    auto const fail = [](std::string const& what) { throw std::invalid_argument("papcoll: " + what); };
    if (shape.root < 0 || shape.root >= shape.ranks)
        fail("root must be a rank (0 to " + std::to_string(shape.ranks - 1) + "), but is " +
             std::to_string(shape.root));
    if (shape.count > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / sizeof(T))
        fail("n must be a number of elements that memory can hold, but is " + std::to_string(shape.count));
    if (shape.count == 0) return;
    if (buffers.in == nullptr) fail("in must not be null when there are elements");
    if (shape.rank != shape.root) return;
    if (buffers.out == nullptr) fail("out must not be null at the root");
    std::less<T const*> const before;
    bool const apart =
        !before(buffers.in, buffers.out + shape.count) || !before(buffers.out, buffers.in + shape.count);
    if (!apart && !buffers.in_place)
        fail("in and out overlap; to reduce in place pass boost::mpi::inplace(values)");
}

template <class Policy, class Op, class T>
constexpr void require_operand_order() {
    static_assert(transportable<T>,
                  "papcoll: elements must be trivially copyable, or have a Boost.MPI datatype and "
                  "papcoll/papcoll.hpp included");
    if constexpr (!std::same_as<Policy, native>)
        static_assert(
            !Policy::reorders_operands || is_commutative<Op, T>::value,
            "papcoll: this policy reorders operands, so the operator must be commutative; if it is, wrap "
            "it: papcoll::commutative(op); if not, choose a policy that keeps rank order");
}

/// How a reduction of this policy is executed once the ranks have agreed.
template <transport Transport, class T, class Op, class Policy>
auto reduce_start(reduce_buffers<T> const& buffers, call_shape const& shape, Op op, Policy const& policy) ->
    typename call_operation<Transport>::start_function {
    using context_pointer = std::shared_ptr<context<Transport>>;
    if constexpr (std::same_as<Policy, native>) {
        static_assert(std::derived_from<Transport, mpi_transport>,
                      "papcoll: the policy native needs an MPI communicator");
        return [=](context_pointer const& c, int) -> std::shared_ptr<operation> {
            auto const user =
                c->transport_layer().communicator(); // the order on the user's own is the user's
            return std::make_shared<native_reduce_operation<T, Op>>(user, buffers.in, buffers.out,
                                                                    shape.count, op, shape.root);
        };
    } else {
        return [=](context_pointer const& c, int tag) -> std::shared_ptr<operation> {
            auto program = plan_cache::of(c->cache()).plan(policy, shape, c->link());
            return std::make_shared<combine_operation<Transport, T, Op>>(c, std::move(program), buffers.in,
                                                                         buffers.out, op, tag);
        };
    }
}

/// Whether papcoll has an agreement to make before the MPI library may begin.
[[nodiscard]] inline auto agrees_first(MPI_Comm user) -> bool {
    return mpi_registry::instance().find(user) != nullptr &&
           context_of(user)->checks() == check_level::agreed;
}
template <class T>
void check_native_reduce(MPI_Comm user, reduce_buffers<T> const& buffers, std::size_t count, int root) {
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(mpi_transport::checked(user), &rank);
    MPI_Comm_size(user, &ranks);
    detail::check_reduce({ranks, rank, root, count, sizeof(T)}, buffers);
}

template <class Comm, class T, class Op, class Policy>
auto begin_reduce(Comm& comm, reduce_buffers<T> const& buffers, std::size_t count, Op op, int root,
                  Policy const& policy) -> request {
    require_operand_order<Policy, Op, T>();
    if constexpr (std::same_as<Policy, native> && std::convertible_to<Comm, MPI_Comm>) {
        auto const user = static_cast<MPI_Comm>(comm);
        if (!detail::agrees_first(user)) {
            detail::check_native_reduce(user, buffers, count, root);
            auto body = std::make_shared<native_reduce_operation<T, Op>>(user, buffers.in, buffers.out, count,
                                                                         std::move(op), root);
            return {mpi_registry::instance().engine(), std::move(body), [] { std::this_thread::yield(); }};
        }
    }
    auto const c = papcoll::context_of(comm);
    using transport_type = std::remove_cvref_t<decltype(c->transport_layer())>;
    call_shape const shape{c->size(), c->rank(), root, count, sizeof(T)};
    auto const check = [&] {
        detail::check_reduce(shape, buffers);
        if constexpr (!std::same_as<Policy, native>) policy.check(shape);
    };
    return detail::begin_call(c, "reduce", shape, policy_hash(policy), check,
                              reduce_start<transport_type>(buffers, shape, std::move(op), policy));
}

/// Calls that block go to MPI_Reduce itself, which the library tunes better than MPI_Ireduce and which does
/// not match it, unless papcoll has an agreement to make first.
template <class Comm, class T, class Op, class Policy>
void run_reduce(Comm& comm, reduce_buffers<T> const& buffers, std::size_t count, Op op, int root,
                Policy const& policy) {
    if constexpr (std::same_as<Policy, native> && std::convertible_to<Comm, MPI_Comm>) {
        auto const user = static_cast<MPI_Comm>(comm);
        if (!detail::agrees_first(user)) {
            detail::check_native_reduce(user, buffers, count, root);
            native_reduce(user, buffers.in, buffers.out, count, std::move(op), root);
            return;
        }
    }
    detail::begin_reduce(comm, buffers, count, std::move(op), root, policy).wait();
}

template <class Comm>
[[nodiscard]] auto rank_of(Comm const& comm) -> int {
    if constexpr (transport<Comm>) {
        return comm.rank();
    } else {
        int rank = 0;
        mpi_check("MPI_Comm_rank", MPI_Comm_rank(mpi_transport::checked(static_cast<MPI_Comm>(comm)), &rank));
        return rank;
    }
}

template <class T>
inline constexpr bool is_scalar_argument = !std::is_pointer_v<T> && !std::is_array_v<T>;
template <class T, class A>
inline constexpr bool is_scalar_argument<std::vector<T, A>> = false;
template <class T>
inline constexpr bool is_scalar_argument<boost::mpi::inplace_t<T>> = false;

/// The forms of Boost.MPI's reduce, each with a policy behind; the blocking ones return nothing, the others a
/// request.
template <bool Blocking>
struct reduce_function {
    using result = std::conditional_t<Blocking, void, request>;
    template <class P>
    static constexpr bool accepts = collective_policy<P, schedule_kind::reduction>;

    /// n elements each.
    template <communicator Comm, class T, reduction_operator<T> Op, class Policy>
    requires accepts<Policy>
    auto operator()(Comm&& comm, T const* in, std::size_t n, std::type_identity_t<T>* out, Op op, int root,
                    Policy const& policy) const -> result {
        return call(comm, reduce_buffers<T>{in, out, false}, n, std::move(op), root, policy);
    }
    /// n elements each, on ranks other than the root.
    template <communicator Comm, class T, reduction_operator<T> Op, class Policy>
    requires accepts<Policy>
    auto operator()(Comm&& comm, T const* in, std::size_t n, Op op, int root, Policy const& policy) const
        -> result {
        return call(comm, reduce_buffers<T>{in, nullptr, false}, n, std::move(op), root, policy);
    }
    /// In place: the root's values are replaced by the result, the others' stay.
    template <communicator Comm, class T, reduction_operator<T> Op, class Policy>
    requires accepts<Policy>
    auto operator()(Comm&& comm, boost::mpi::inplace_t<T*> values, std::size_t n, Op op, int root,
                    Policy const& policy) const -> result {
        return call(comm, reduce_buffers<T>{values.buffer, values.buffer, true}, n, std::move(op), root,
                    policy);
    }
    /// One element each, in place.
    template <communicator Comm, class T, reduction_operator<T> Op, class Policy>
    requires accepts<Policy>
    auto operator()(Comm&& comm, boost::mpi::inplace_t<T> value, Op op, int root, Policy const& policy) const
        -> result {
        return call(comm, reduce_buffers<T>{&value.buffer, &value.buffer, true}, 1, std::move(op), root,
                    policy);
    }
    /// One element each.
    template <communicator Comm, class T, reduction_operator<T> Op, class Policy>
    requires accepts<Policy> && is_scalar_argument<T>
    auto operator()(Comm&& comm, T const& in, std::type_identity_t<T>& out, Op op, int root,
                    Policy const& policy) const -> result {
        return call(comm, reduce_buffers<T>{&in, &out, false}, 1, std::move(op), root, policy);
    }
    /// One element each, on ranks other than the root.
    template <communicator Comm, class T, reduction_operator<T> Op, class Policy>
    requires accepts<Policy> && is_scalar_argument<T>
    auto operator()(Comm&& comm, T const& in, Op op, int root, Policy const& policy) const -> result {
        return call(comm, reduce_buffers<T>{&in, nullptr, false}, 1, std::move(op), root, policy);
    }
    /// Vectors of equal size on all ranks; the root's `out` is resized.
    template <communicator Comm, class T, reduction_operator<T> Op, class Policy>
    requires accepts<Policy>
    auto operator()(Comm&& comm, std::vector<T> const& in, std::vector<T>& out, Op op, int root,
                    Policy const& policy) const -> result {
        if (rank_of(comm) == root) out.resize(in.size());
        return call(comm, reduce_buffers<T>{in.data(), out.data(), false}, in.size(), std::move(op), root,
                    policy);
    }
    /// Vectors of equal size, on ranks other than the root.
    template <communicator Comm, class T, reduction_operator<T> Op, class Policy>
    requires accepts<Policy>
    auto operator()(Comm&& comm, std::vector<T> const& in, Op op, int root, Policy const& policy) const
        -> result {
        return call(comm, reduce_buffers<T>{in.data(), nullptr, false}, in.size(), std::move(op), root,
                    policy);
    }

private:
    template <class Comm, class T, class Op, class Policy>
    static auto call(Comm& comm, reduce_buffers<T> const& buffers, std::size_t count, Op op, int root,
                     Policy const& policy) -> result {
        if constexpr (Blocking)
            run_reduce(comm, buffers, count, std::move(op), root, as_policy(policy));
        else
            return begin_reduce(comm, buffers, count, std::move(op), root, as_policy(policy));
    }
};

} // namespace detail

/// Combines the `in` of all ranks element by element and leaves the result in the root's `out`.
///
/// Forms as in Boost.MPI, and a policy at the end:
///
///     reduce(comm, in, n, out, op, root, policy)     n elements; `out` counts at the root alone
///     reduce(comm, in, n, op, root, policy)          the same, on ranks other than the root
///     reduce(comm, in, out, op, root, policy)        single values, or std::vectors of one size
///     reduce(comm, in, op, root, policy)             the same, on ranks other than the root
///     reduce(comm, inplace(values), n, op, root, policy)    the root's values are replaced
///
/// Must agree on all ranks: the count, the root, the policy with all its members, and what the operator
/// computes. `comm` is a boost::mpi::communicator, an MPI_Comm or a transport. Nothing is sent on the user's
/// communicator itself (but by `native`); the first call attaches papcoll to it (see attach).
///
/// Cost with `clairvoyant` for N segments of m bytes in all: about N + ⌈log2 P⌉ rounds after the last
/// arrival, each of one segment's transfer time. In memory about m bytes of blocks beyond the user's.
///
/// Throws std::invalid_argument, before any message of the operation, for a root that is no rank, null data,
/// overlapping buffers, and members of the policy that cannot be; with agreed checks on all ranks if it does
/// on any, or if they disagree. An exception of the operator is rethrown on the rank where it was thrown,
/// after the communication is complete; the result is then unspecified. Throws mpi_error where MPI fails;
/// with `native` the communicator's error handler comes first.
///
///     std::vector<float> image = ..., sum(image.size());
///     papcoll::reduce(world, image.data(), image.size(), sum.data(), std::plus<>(), 0,
///                     papcoll::clairvoyant{.arrivals = predicted});
inline constexpr detail::reduce_function<true> reduce{};

/// reduce that returns at once; the buffers must stay until the request has ended. See reduce.
inline constexpr detail::reduce_function<false> ireduce{};

} // namespace papcoll::inline v0
