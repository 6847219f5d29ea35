// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/forms.hpp>
#include <papcoll/collective/in_place.hpp>
#include <papcoll/collective/mistakes.hpp>
#include <papcoll/collective/sizes.hpp>
#include <papcoll/operators/operators.hpp>
#include <papcoll/policy/automatic.hpp>
#include <papcoll/policy/policy.hpp>
#include <papcoll/scheduler/scheduler.hpp>
#include <papcoll/transport/communicator.hpp>

#include <concepts>
#include <type_traits>
#include <vector>

// What the compiler says of a call that fits no form of its collective: one line, at the call, that names the
// mistake and what to do, in place of all forms and why each of them does not fit.
namespace papcoll::inline v0::detail {

/// Arrays are pointers; what is const stays so.
template <class A>
using plain_argument = std::conditional_t<std::is_array_v<std::remove_reference_t<A>>, std::decay_t<A>,
                                          std::remove_reference_t<A>>;
/// The elements that an argument stands for; const where they are.
template <class A>
struct argument_elements {
    using type = A;
};
template <class T>
struct argument_elements<T*> {
    using type = T;
};
template <class T>
struct argument_elements<T* const> {
    using type = T;
};
template <class T>
struct argument_elements<std::vector<T>> {
    using type = T;
};
template <class T>
struct argument_elements<std::vector<T> const> {
    using type = T const;
};
template <in_place_array V>
struct argument_elements<V> {
    using type = in_place_array_element<V>;
};
template <in_place_value V>
struct argument_elements<V> {
    using type = in_place_value_element<V>;
};
template <class A>
using elements_of = typename argument_elements<plain_argument<A>>::type;

template <class A>
concept policy_argument =
    std::same_as<std::decay_t<A>, native> || block_policy<std::decay_t<A>> || scheduler<std::decay_t<A>>;
template <class A, class T>
concept operator_argument = reduction_operator<std::decay_t<A>, T>;
/// A pointer or a std::vector.
template <class A>
concept array_argument =
    std::is_pointer_v<plain_argument<A>> || is_vector<std::remove_const_t<plain_argument<A>>>;
template <class A>
concept integer_argument = std::integral<std::remove_cvref_t<A>>;

template <class A>
concept counts_argument = counts_range<std::remove_cvref_t<A>>;

/// The policy among the arguments of a call, or the default one.
template <class... Args>
struct policy_among {
    using type = automatic;
};
template <class A, class... Args>
struct policy_among<A, Args...> : policy_among<Args...> {};
template <policy_argument A, class... Args>
struct policy_among<A, Args...> {
    using type = std::decay_t<A>;
};
/// The operator for elements of type T among the arguments of a call, and whether an integer follows it.
template <class T, class... Args>
struct operator_among {
    using type = void;
    static constexpr bool before_integer = false;
};
template <class T, class A, class... Args>
struct operator_among<T, A, Args...> : operator_among<T, Args...> {};
template <class T, operator_argument<T> A, class... Args>
struct operator_among<T, A, Args...> {
    using type = std::decay_t<A>;
    static constexpr bool before_integer = false;
};
template <class T, operator_argument<T> A, integer_argument Root, class... Args>
struct operator_among<T, A, Root, Args...> {
    using type = std::decay_t<A>;
    static constexpr bool before_integer = true;
};

[[nodiscard]] constexpr auto needs_operator(collective_kind operation) -> bool {
    using kind = collective_kind;
    return operation == kind::reduce || operation == kind::all_reduce || operation == kind::reduce_scatter ||
           is_prefix(operation);
}
[[nodiscard]] constexpr auto needs_root(collective_kind operation) -> bool {
    using kind = collective_kind;
    return operation == kind::broadcast || operation == kind::reduce || operation == kind::gather ||
           operation == kind::scatter;
}

/// What is wrong with `out`, which stands behind `in`, or behind `in` and a count.
template <class T, class... Args>
struct output_mistake {
    static constexpr auto value = mistake::none;
};
template <class T, array_argument A, class... Args>
struct output_mistake<T, A, Args...> {
    using elements = elements_of<A>;
    static constexpr auto value = !std::same_as<std::remove_cv_t<elements>, T> ? mistake::other_elements
                                  : std::is_const_v<elements>                  ? mistake::constant_output
                                                                               : mistake::none;
};
template <class T, integer_argument N, array_argument A, class... Args>
struct output_mistake<T, N, A, Args...> : output_mistake<T, A, Args...> {};
/// Sizes stand between `in` and `out` where they say how a result is scattered.
template <collective_kind Operation, class T, class... Args>
struct output_mistake_of : output_mistake<std::remove_cv_t<T>, Args...> {};
template <class T, counts_argument Sizes, class... Args>
struct output_mistake_of<collective_kind::reduce_scatter, T, Sizes, Args...>
    : output_mistake<std::remove_cv_t<T>, Args...> {};

/// Without sizes a scatter writes its first argument where a number follows it.
template <class T, integer_argument N, class... Args>
struct output_mistake_of<collective_kind::scatter, T const, N, Args...> {
    static constexpr auto value = mistake::constant_output;
};

template <class A>
concept many_argument = array_argument<A> || in_place_array<std::decay_t<A>>;
/// Whether the data of a call stand with a count: `In` and, where it is scattered, what follows.
template <collective_kind Operation, class In, class... Args>
inline constexpr bool has_a_count = many_argument<In>;
template <class In, class A, class... Args>
inline constexpr bool has_a_count<collective_kind::scatter, In, A, Args...> = many_argument<In> &&
                                                                              (many_argument<A> ||
                                                                               integer_argument<A>);
/// Whether the result of single values stands where it cannot be written.
template <class In, class... Args>
inline constexpr bool has_constant_result = false;
template <class In, class Out, class... Args>
inline constexpr bool has_constant_result<In, Out, Args...> =
    !many_argument<In> && std::same_as<plain_argument<Out>, std::remove_cvref_t<In> const>;
/// Whether the count stands behind both arrays, as in MPI's reductions.
template <class In, class... Args>
inline constexpr bool has_order_of_mpi = false;
template <class In, class Out, class N, class... Args>
inline constexpr bool has_order_of_mpi<In, Out, N, Args...> =
    std::is_pointer_v<plain_argument<In>>&& std::is_pointer_v<plain_argument<Out>>&& integer_argument<N>;
/// Whether the root of a call is there.
template <collective_kind Operation, class T, class In, class... Args>
constexpr auto has_its_root() -> bool {
    if constexpr (needs_operator(Operation)) return operator_among<T, Args...>::before_integer;
    constexpr int integers = (0 + ... + int(integer_argument<Args>));
    return integers >= (has_a_count<Operation, In, Args...> ? 2 : 1);
}
template <class A>
inline constexpr bool is_vector_of_bool = std::same_as<std::decay_t<A>, std::vector<bool>>;

/// What is wrong with the arguments behind the communicator, as far as it can be told.
template <collective_kind Operation, class In, class... Args>
constexpr auto mistake_of_arguments() -> mistake {
    using elements = elements_of<In>;
    using element = std::remove_cv_t<elements>;
    using policy = typename policy_among<Args...>::type;
    using op = typename operator_among<element, Args...>::type;
    if constexpr (is_vector_of_bool<In> || (is_vector_of_bool<Args> || ...))
        return mistake::vector_of_bool;
    else if constexpr (constexpr auto found = mistake_of_element<element>(); found != mistake::none)
        return found;
    else if constexpr (!collective_policy<policy, Operation>)
        return mistake::policy;
    else if constexpr (needs_operator(Operation) && std::is_void_v<op>)
        return is_vector<std::remove_cvref_t<In>> &&
                       !std::is_void_v<typename operator_among<std::remove_cvref_t<In>, Args...>::type>
                   ? mistake::whole_vectors
                   : mistake::no_operator;
    else if constexpr (needs_operator(Operation) && Operation != collective_kind::reduce_scatter &&
                       has_order_of_mpi<In, Args...>)
        return mistake::argument_order;
    else if constexpr (needs_operator(Operation) && has_constant_result<In, Args...>)
        return mistake::constant_output;
    else if constexpr (needs_operator(Operation) && !needs_root(Operation) &&
                       operator_among<element, Args...>::before_integer)
        return mistake::extra_root;
    else if constexpr (needs_root(Operation) && !has_its_root<Operation, element, In, Args...>())
        return mistake::missing_root;
    else if constexpr (constexpr auto output = output_mistake_of<Operation, elements, Args...>::value;
                       output != mistake::none)
        return output;
    else if constexpr (std::is_void_v<op>)
        return mistake_of_types<Operation, policy_type<policy>, elements>();
    else
        return mistake_of_types<Operation, policy_type<policy>, element, op>();
}
/// What is wrong with elements of which each rank has another number: those are not serialized.
template <class Forms, class In>
constexpr auto mistake_of_parts() -> mistake {
    if constexpr (requires { Forms::has_sizes; })
        return mistake_of_transported<std::remove_cv_t<elements_of<In>>>();
    else
        return mistake::none;
}
template <class Forms, class In, class... Args>
constexpr auto mistake_of_forms() -> mistake {
    constexpr auto found = mistake_of_parts<Forms, In>();
    constexpr bool is_gathered = Forms::operation == collective_kind::all_gather;
    if constexpr (found != mistake::none || (requires { Forms::has_sizes; } && !is_gathered))
        return found;
    else if constexpr (requires { Forms::has_equal_parts; } && has_order_of_mpi<In, Args...>)
        return mistake::argument_order;
    else
        return mistake_of_arguments<Forms::operation, In, Args...>();
}
template <class Forms>
inline constexpr bool has_data = Forms::operation != collective_kind::barrier;
/// What is wrong with a call; nothing where it fits a form.
template <class Forms, class Comm, class... Args>
constexpr auto mistake_of_call() -> mistake {
    if constexpr (std::is_invocable_v<Forms const&, Comm, Args...>)
        return mistake::none;
    else if constexpr (!communicator<Comm>)
        return mistake::communicator;
    else if constexpr (!has_data<Forms>)
        return mistake::policy;
    else
        return mistake_of_forms<Forms, Args...>();
}
template <class Forms, mistake What, class... Args>
concept mistaken_call =
    (sizeof...(Args) > (has_data<Forms> ? 1 : 0)) && mistake_of_call<Forms, Args...>() == What;

#if __has_attribute(unavailable)
#define PAPCOLL_UNAVAILABLE(text) __attribute__((unavailable(text)))
#else
#define PAPCOLL_UNAVAILABLE(text) [[deprecated(text)]]
#endif
#define PAPCOLL_EXPLAIN(name, text)                                                                          \
    template <class... Args>                                                                                 \
    requires mistaken_call<Forms, mistake::name, Args...> PAPCOLL_UNAVAILABLE(text)                          \
    auto operator()(Args&&...) const->typename Forms::result { return refuse<mistake::name, Args...>(); }

/// The forms of a collective, and beside them what is no call of it: see above.
template <class Forms>
struct explained : Forms {
    using Forms::operator();
    PAPCOLL_MISTAKES(PAPCOLL_EXPLAIN)
};

#undef PAPCOLL_EXPLAIN
#undef PAPCOLL_UNAVAILABLE

} // namespace papcoll::inline v0::detail

#undef PAPCOLL_MISTAKES
