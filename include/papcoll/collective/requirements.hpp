// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/buffers.hpp>
#include <papcoll/executor/bytes_of.hpp>
#include <papcoll/executor/native/datatype.hpp>
#include <papcoll/executor/serialization.hpp>
#include <papcoll/operators/operators.hpp>
#include <papcoll/policy/collective_kind.hpp>
#include <papcoll/policy/native.hpp>

#include <mpi.h>

#include <concepts>
#include <type_traits>

// What elements, operators and policies of a call must be, said when it is compiled.
namespace papcoll::inline v0 {

class mpi_transport;

} // namespace papcoll::inline v0

namespace papcoll::inline v0::detail {

template <class>
inline constexpr bool always_false = false;

/// Refuses what can travel in no way, and says what to do.
template <class T>
constexpr void require_meaning() {
    if constexpr (transportable<T> || serializable<T>)
        return;
    else if constexpr (bound_to_rank<T>)
        static_assert(always_false<T>,
                      "papcoll: pointers, iterators, views (std::span, std::string_view), "
                      "std::reference_wrapper and Boost.MPI's skeletons and contents refer to memory of this "
                      "rank; pass the elements themselves, as data() and size()");
    else if constexpr (has_own_serialize<std::remove_cv_t<T>>)
        static_assert(always_false<T>,
                      "papcoll: a class with a serialize of its own is not sent as its bytes; include "
                      "papcoll/papcoll.hpp and make it default-constructible, so that it is serialized, or "
                      "declare BOOST_IS_BITWISE_SERIALIZABLE for it, if its bytes are its value");
    else
        static_assert(always_false<T>,
                      "papcoll: elements must be trivially copyable, or have a Boost.MPI datatype or "
                      "Boost.Serialization and papcoll/papcoll.hpp included");
}
template <class T>
constexpr void require_transportable() {
    require_meaning<T>();
    static_assert(
        !serializable<T>,
        "papcoll: values that must be serialized can be broadcast, reduced, all-reduced and "
        "all-gathered, not more; if their bytes are all of them, declare BOOST_IS_BITWISE_SERIALIZABLE");
}
/// Where values may be serialized.
template <class Policy, class T>
constexpr void require_value() {
    require_meaning<T>();
    if constexpr (serializable<T>)
        static_assert(!std::same_as<Policy, native>,
                      "papcoll: the policy native needs an MPI datatype; choose another for values that must "
                      "be serialized, such as binomial_tree");
}
template <class Policy, class Op, class T>
constexpr void require_operand_order() {
    require_value<Policy, T>();
    if constexpr (!std::same_as<Policy, native>)
        static_assert(
            !Policy::reorders_operands || is_commutative<Op, T>::value,
            "papcoll: this policy reorders operands, so the operator must be commutative; if it is, wrap "
            "it: papcoll::commutative(op); if not, choose a policy that keeps rank order");
}

/// What the collectives ask of the types of a call; `Op` is the operator's, if there is one.
template <collective_kind Operation, class Policy, class T, class... Op>
constexpr void require_call() {
    using kind = collective_kind;
    if constexpr (Operation == kind::gather || Operation == kind::reduce_scatter ||
                  Operation == kind::all_to_all)
        require_transportable<T>();
    else
        require_value<Policy, T>();
    if constexpr (Operation == kind::broadcast)
        static_assert(!std::is_const_v<T>, "papcoll: a broadcast writes its values; they must not be const");
    if constexpr (std::same_as<Policy, native> && transportable<T>)
        static_assert(has_native_type<T>,
                      "papcoll: this type needs a Boost.MPI datatype; include papcoll/papcoll.hpp");
    if constexpr (sizeof...(Op) > 0) require_operand_order<Policy, Op..., T>();
    if constexpr (Operation == kind::all_reduce && serializable<T> && !std::same_as<Policy, native>)
        static_assert(Policy::provides(kind::reduce),
                      "papcoll: values that must be serialized are all-reduced by a reduction to a root and "
                      "the way back, which this policy does not have; choose another, such as arrival_tree");
}
template <class Comm, class Policy>
constexpr void require_communicator() {
    static_assert(!std::same_as<Policy, native> || std::convertible_to<Comm, MPI_Comm> ||
                      std::is_base_of_v<mpi_transport, std::remove_cvref_t<Comm>>,
                  "papcoll: the policy native needs an MPI communicator");
}

} // namespace papcoll::inline v0::detail
