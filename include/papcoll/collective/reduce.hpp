// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/explained.hpp>
#include <papcoll/collective/forms.hpp>
#include <papcoll/collective/plan.hpp>
#include <papcoll/operators/operators.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The forms of Boost.MPI's reduce, each with a policy behind; the blocking ones return nothing, the others a
/// request.
template <bool Blocking>
struct reduce_function : collective_forms<collective_kind::reduce, Blocking> {
    using typename collective_forms<collective_kind::reduce, Blocking>::result;

    /// n elements each.
    template <communicator Comm, class T, reduction_operator<T> Op,
              collective_policy<collective_kind::reduce, T, Op> Policy = automatic>
    auto operator()(Comm&& comm, T const* in, std::size_t n, std::type_identity_t<T>* out, Op op, int root,
                    Policy const& policy = {}) const -> result {
        return to(root, comm, this->template describe<Policy>(in, n, out, std::move(op)), policy);
    }
    /// n elements each, on ranks other than the root.
    template <communicator Comm, class T, reduction_operator<T> Op,
              collective_policy<collective_kind::reduce, T, Op> Policy = automatic>
    auto operator()(Comm&& comm, T const* in, std::size_t n, Op op, int root, Policy const& policy = {}) const
        -> result {
        return (*this)(comm, in, n, nullptr, std::move(op), root, policy);
    }
    /// In place: the root's values are replaced by the result, the others' stay.
    template <communicator Comm, in_place_array V, reduction_operator<in_place_array_element<V>> Op,
              collective_policy<collective_kind::reduce, in_place_array_element<V>, Op> Policy = automatic>
    auto operator()(Comm&& comm, V values, std::size_t n, Op op, int root, Policy const& policy = {}) const
        -> result {
        return to(root, comm, this->template describe<Policy>(values, n, std::move(op)), policy);
    }
    /// One element each, in place.
    template <communicator Comm, in_place_value V, reduction_operator<in_place_value_element<V>> Op,
              collective_policy<collective_kind::reduce, in_place_value_element<V>, Op> Policy = automatic>
    auto operator()(Comm&& comm, V value, Op op, int root, Policy const& policy = {}) const -> result {
        return to(root, comm, this->template describe<Policy>(value, std::move(op)), policy);
    }
    /// Single values, or std::vectors of equal size on all ranks; the root's is resized.
    template <communicator Comm, argument_value In, reduction_operator<element_of<In>> Op,
              collective_policy<collective_kind::reduce, element_of<In>, Op> Policy = automatic>
    auto operator()(Comm&& comm, In const& in, std::type_identity_t<In>& out, Op op, int root,
                    Policy const& policy = {}) const -> result {
        using of = argument<In>;
        return to(root, comm,
                  this->template describe<Policy>(of::data(in), of::size(in), of::place(out), std::move(op)),
                  policy);
    }
    /// The same, on ranks other than the root.
    template <communicator Comm, argument_value In, reduction_operator<element_of<In>> Op,
              collective_policy<collective_kind::reduce, element_of<In>, Op> Policy = automatic>
    auto operator()(Comm&& comm, In const& in, Op op, int root, Policy const& policy = {}) const -> result {
        return (*this)(comm, argument<In>::data(in), argument<In>::size(in), std::move(op), root, policy);
    }

private:
    template <class Comm, class Policy>
    static auto to(int root, Comm& comm, call_description call, Policy const& policy) -> result {
        call.root = root;
        return reduce_function::make(comm, std::move(call), policy);
    }
};

template <class T>
struct plan_reduce_function {
    template <communicator Comm, reduction_operator<T> Op,
              collective_policy<collective_kind::reduce> Policy = automatic>
    [[nodiscard]] auto operator()(Comm const& comm, std::size_t n, Op op, int root,
                                  Policy const& policy = {}) const {
        auto call = reduce_function<true>::described<Policy, T>(std::move(op));
        call.n = n;
        call.root = root;
        return collective_plan<Comm, T, collective_kind::reduce>(comm, std::move(call), policy);
    }
};

} // namespace detail

/// Combines the `in` of all ranks element by element and leaves the result in the root's `out`.
///
/// Forms as in Boost.MPI, and a policy at the end, `automatic` by default:
///
///     reduce(comm, in, n, out, op, root[, policy])     n elements; `out` counts at the root alone
///     reduce(comm, in, n, op, root[, policy])          the same, on ranks other than the root
///     reduce(comm, in, out, op, root[, policy])        single values, or std::vectors of one size
///     reduce(comm, in, op, root[, policy])             the same, on ranks other than the root
///     reduce(comm, inplace(values), n, op, root[, policy])    the root's values are replaced
///
/// Must agree on all ranks: the count, the root, the policy with all its members, what the operator computes,
/// and whether its type says that it commutes (a lambda does not, std::plus does). `comm` is a
/// boost::mpi::communicator, an MPI_Comm or a transport. Nothing is sent on the user's communicator itself
/// (but by `native`); a blocking first call attaches papcoll to it (see attach).
///
/// Cost with `clairvoyant` for N segments of m bytes in all: about N + ⌈log2 P⌉ rounds after the last
/// arrival, each of one segment's transfer time. In memory about m bytes of blocks beyond the user's.
///
/// Throws std::invalid_argument, before any message of the operation, for a root that is no rank, null data,
/// overlapping buffers, and members of the policy that cannot be; with agreed checks on all ranks if it does
/// on any, or if they disagree. A std::vector is resized once the arguments of its rank are found good; what
/// that throws is treated alike, as std::invalid_argument with agreed checks. An exception of the operator is
/// rethrown on the rank where it was thrown, after the communication is complete; the result is then
/// unspecified. Throws mpi_error where MPI fails; with `native` the communicator's error handler comes first.
///
/// Values that are neither trivially copyable nor have a Boost.MPI datatype (std::string, std::map, classes
/// of one's own with Boost.Serialization, papcoll/papcoll.hpp) travel serialized, as one piece that is not
/// cut, and may differ in size from rank to rank; sizes beyond 2 GiB are not tested. So does a trivially
/// copyable class with a `serialize` of its own, a member or free, unless BOOST_IS_MPI_DATATYPE or
/// BOOST_IS_BITWISE_SERIALIZABLE says that its bytes are its value; without papcoll/papcoll.hpp it is
/// refused. What save, load or the
/// operator throw is rethrown on that rank when the communication is complete; ranks that miss a value for it
/// throw missing_value_error. Choose a tree policy: they keep rank order, so strings can be joined.
///
///     std::vector<float> image = ..., sum(image.size());
///     papcoll::reduce(world, image.data(), image.size(), sum.data(), std::plus<>(), 0,
///                     papcoll::clairvoyant{.arrivals = predicted});
inline constexpr detail::explained<detail::reduce_function<true>> reduce{};

/// reduce that returns at once; the buffers must stay until the request has ended. See reduce.
///
/// papcoll must be attached to `comm`, else it throws std::logic_error; the policy `native` does without.
/// Without MPI_THREAD_MULTIPLE the operation progresses inside papcoll's calls alone: do not wait by other
/// means for a rank that waits for this request, or call progress() meanwhile. See request.
inline constexpr detail::explained<detail::reduce_function<false>> ireduce{};

/// plan_reduce<T>(comm, n, op, root[, policy]) prepares reductions of n elements of type T, which `run(in,
/// out)`, `run(in)` on ranks other than the root, or `run(inplace(values))` makes. What must agree is that of
/// reduce. Collective, on an attached `comm` (see attach). Throws as reduce does.
///
///     auto sum = papcoll::plan_reduce<float>(world, n, std::plus<>(), 0, papcoll::clairvoyant{});
///     for (...) sum.run(image, total);
template <class T>
inline constexpr detail::plan_reduce_function<T> plan_reduce{};

} // namespace papcoll::inline v0
