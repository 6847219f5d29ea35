// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/buffers.hpp>
#include <papcoll/executor/bytes_of.hpp>
#include <papcoll/executor/serialization.hpp>
#include <papcoll/operators/operators.hpp>
#include <papcoll/policy/native.hpp>

#include <concepts>
#include <type_traits>

// What elements, operators and policies of a call must be, said when it is compiled.
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

} // namespace papcoll::inline v0::detail
