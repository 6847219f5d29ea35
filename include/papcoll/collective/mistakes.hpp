// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/buffers.hpp>
#include <papcoll/executor/bytes_of.hpp>
#include <papcoll/executor/native/datatype.hpp>
#include <papcoll/executor/serialization.hpp>
#include <papcoll/operators/operators.hpp>
#include <papcoll/policy/collective_kind.hpp>
#include <papcoll/policy/native.hpp>
#include <papcoll/policy/policy.hpp>

#include <concepts>
#include <type_traits>

/// What can be wrong with the types of a call, and what to do about it: X(name, text).
#define PAPCOLL_MISTAKES(X)                                                                                  \
    X(view, "papcoll: pointers, iterators, views (std::span, std::string_view), std::reference_wrapper and " \
            "Boost.MPI's skeletons and contents refer to memory of this rank; pass the elements "            \
            "themselves, as data() and size()")                                                              \
    X(own_serialize, "papcoll: a class with a serialize of its own is not sent as its bytes; include "       \
                     "papcoll/papcoll.hpp and make it default-constructible, so that it is serialized, or "  \
                     "declare BOOST_IS_BITWISE_SERIALIZABLE for it, if its bytes are its value")             \
    X(element, "papcoll: elements must be trivially copyable, or have a Boost.MPI datatype or "              \
               "Boost.Serialization and papcoll/papcoll.hpp included")                                       \
    X(serialized, "papcoll: values that must be serialized can be broadcast, reduced, all-reduced, "         \
                  "scanned, gathered, scattered, all-gathered and exchanged in parts of equal sizes, not "   \
                  "more; if their bytes are all of them, declare BOOST_IS_BITWISE_SERIALIZABLE")             \
    X(serialized_native, "papcoll: the policy native needs an MPI datatype; choose another for values that " \
                         "must be serialized, such as binomial_tree")                                        \
    X(constant_values, "papcoll: a broadcast writes its values; they must not be const")                     \
    X(native_datatype, "papcoll: this type needs a Boost.MPI datatype; include papcoll/papcoll.hpp")         \
    X(operand_order, "papcoll: this policy reorders operands, so the operator must be commutative; if it "   \
                     "is, wrap it: papcoll::commutative(op); if not, choose a policy that keeps rank order") \
    X(serialized_all_reduce, "papcoll: values that must be serialized are all-reduced by a reduction to a "  \
                             "root and the way back, which this policy does not have; choose another, such " \
                             "as arrival_tree")                                                              \
    X(communicator, "papcoll: the first argument must be a boost::mpi::communicator, an MPI_Comm or a "      \
                    "transport")                                                                             \
    X(policy, "papcoll: this policy or scheduler does not serve this collective; leave it out, and "         \
              "automatic chooses, or take one whose documentation names the collective")                     \
    X(vector_of_bool, "papcoll: a std::vector<bool> has no elements in memory; use another type, such as "   \
                      "std::vector<char>")                                                                   \
    X(no_operator, "papcoll: no argument is an operator for these elements; it must be callable with two "   \
                   "constant elements and return one, such as std::plus<>(); MPI_SUM and other MPI_Op are "  \
                   "not")                                                                                    \
    X(missing_root, "papcoll: the root is missing: an int, behind the data and the operator and before the " \
                    "policy")                                                                                \
    X(whole_vectors,                                                                                         \
      "papcoll: std::vectors are combined element by element; for an operator of whole vectors "             \
      "write the count 1: (comm, &vector, 1, &result, op)")                                                  \
    X(argument_order,                                                                                        \
      "papcoll: the count comes before `out`: (comm, in, n, out, op, ...), which is not MPI's order")        \
    X(extra_root,                                                                                            \
      "papcoll: this collective has no root: all ranks get a result; leave the integer behind the "          \
      "operator out")                                                                                        \
    X(constant_output, "papcoll: the result is written to `out`; it must not be const")                      \
    X(other_elements, "papcoll: `out` must have elements of the same type as `in`")

namespace papcoll::inline v0::detail {

#define PAPCOLL_MISTAKE_NAME(name, text) name,
enum class mistake { none, PAPCOLL_MISTAKES(PAPCOLL_MISTAKE_NAME) };
#undef PAPCOLL_MISTAKE_NAME

template <class...>
inline constexpr bool always_false = false;

/// Refuses to compile a call with this mistake.
template <mistake What, class... Types>
constexpr void refuse() {
#define PAPCOLL_REFUSE(name, text)                                                                           \
    if constexpr (What == mistake::name) static_assert(always_false<Types...>, text);
    PAPCOLL_MISTAKES(PAPCOLL_REFUSE)
#undef PAPCOLL_REFUSE
}

[[nodiscard]] constexpr auto serves_serialized(collective_kind operation) -> bool {
    using kind = collective_kind;
    return operation != kind::reduce_scatter;
}
/// What is wrong with a type of elements, wherever they go.
template <class T>
constexpr auto mistake_of_element() -> mistake {
    if constexpr (transportable<T> || serializable<T>)
        return mistake::none;
    else if constexpr (bound_to_rank<T>)
        return mistake::view;
    else
        return has_own_serialize<std::remove_cv_t<T>> ? mistake::own_serialize : mistake::element;
}
/// What is wrong with it where values are not serialized.
template <class T>
constexpr auto mistake_of_transported() -> mistake {
    constexpr auto found = mistake_of_element<T>();
    return found == mistake::none && serializable<T> ? mistake::serialized : found;
}
/// What is wrong with a policy for elements that are serialized.
template <collective_kind Operation, class Policy>
constexpr auto mistake_of_serialized() -> mistake {
    if constexpr (!serves_serialized(Operation))
        return mistake::serialized;
    else if constexpr (std::same_as<Policy, native>)
        return mistake::serialized_native;
    else if constexpr (Operation == collective_kind::all_reduce && !Policy::provides(collective_kind::reduce))
        return mistake::serialized_all_reduce;
    else
        return mistake::none;
}
template <collective_kind Operation, class Policy, class T, class... Op>
constexpr auto mistake_of_operator() -> mistake {
    if constexpr (std::same_as<Policy, native>)
        return mistake::none;
    else
        return may_reorder<Policy>(Operation) && !(is_commutative<Op, T>::value && ...)
                   ? mistake::operand_order
                   : mistake::none;
}

/// What is wrong with the types of a call's elements, its policy and its operator, if there is one.
template <collective_kind Operation, class Policy, class T, class... Op>
constexpr auto mistake_of_types() -> mistake {
    if constexpr (constexpr auto found = mistake_of_element<T>(); found != mistake::none)
        return found;
    else if constexpr (Operation == collective_kind::broadcast && std::is_const_v<T>)
        return mistake::constant_values;
    else if constexpr (constexpr auto order = mistake_of_operator<Operation, Policy, T, Op...>();
                       order != mistake::none)
        return order;
    else if constexpr (serializable<T>)
        return mistake_of_serialized<Operation, Policy>();
    else
        return std::same_as<Policy, native> && !has_native_type<T> ? mistake::native_datatype : mistake::none;
}

} // namespace papcoll::inline v0::detail
