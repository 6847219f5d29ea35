// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/call_description.hpp>
#include <papcoll/collective/in_place.hpp>
#include <papcoll/collective/mistakes.hpp>
#include <papcoll/collective/requirements.hpp>
#include <papcoll/collective/run_call.hpp>
#include <papcoll/policy/automatic.hpp>
#include <papcoll/policy/native.hpp>
#include <papcoll/policy/policy.hpp>
#include <papcoll/scheduler/scheduler.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

template <scheduler S>
struct scheduled;

namespace detail {

/// Whether <papcoll/policy/scheduled.hpp> is included, which makes policies of schedulers.
template <class S>
concept known_to_be_scheduled = requires {
    sizeof(scheduled<S>);
};
template <class S, collective_kind Operation>
inline constexpr bool schedules = true; // not known: as_policy tells
template <known_to_be_scheduled S, collective_kind Operation>
inline constexpr bool schedules<S, Operation> = scheduled<S>::provides(Operation);

} // namespace detail

namespace detail {

/// A scheduler becomes the policy that uses it; policies stay what they are.
template <class P>
[[nodiscard]] auto as_policy(P const& p) -> decltype(auto) {
    if constexpr (scheduler<P> && !block_policy<P>) {
        static_assert(known_to_be_scheduled<P>,
                      "papcoll: include <papcoll/policy/scheduled.hpp> to use a scheduler as a policy");
        return scheduled<P>{p, {}, {}};
    } else {
        return (p);
    }
}
template <class P>
using policy_type = std::remove_cvref_t<decltype(as_policy(std::declval<P const&>()))>;

template <class P, collective_kind Operation, class... Call>
inline constexpr bool fits_types = true;
template <class P, collective_kind Operation, class T, class... Op>
inline constexpr bool fits_types<P, Operation, T, Op...> =
    mistake_of_types<Operation, policy_type<P>, T, Op...>() == mistake::none;

} // namespace detail

/// What may stand as the policy of this collective: a block policy that provides it, a scheduler of its kind
/// (see scheduled), or `native`. `Call`, where it is given, are the type of the elements and that of the
/// operator, if there is one: they must suit the collective and the policy.
template <class P, collective_kind Operation, class... Call>
concept collective_policy = (std::same_as<P, native> || (block_policy<P> && P::provides(Operation)) ||
                             (scheduler<P> && detail::schedules<P, Operation>)) &&
                            detail::fits_types<P, Operation, Call...>;

namespace detail {

template <class T>
inline constexpr bool is_scalar_argument =
    !std::is_pointer_v<T> && !std::is_array_v<T> && !in_place_array<T> && !in_place_value<T>;
template <class T, class A>
inline constexpr bool is_scalar_argument<std::vector<T, A>> = false;
/// Stands before the operator's concept, so that generic lambdas are tried on the elements of vectors alone.
template <class T>
concept scalar_argument = is_scalar_argument<T>;

/// The elements of one argument: a single value, or a std::vector.
template <class X>
struct argument {
    using element = X;
    static auto data(X& x) -> X* { return &x; }
    static auto data(X const& x) -> X const* { return &x; }
    static auto size(X const&) -> std::size_t { return 1; }
    static auto place(X& x) -> output { return &x; }
};
template <class T>
struct argument<std::vector<T>> {
    using element = T;
    static auto data(std::vector<T> const& x) -> T const* { return x.data(); }
    static auto size(std::vector<T> const& x) -> std::size_t { return x.size(); }
    static auto place(std::vector<T>& x) -> output { return x; }
};
template <class X>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = !std::same_as<T, bool>; // which has no elements in memory
template <class X>
concept argument_value = scalar_argument<X> || is_vector<X>;
template <class X>
using element_of = typename argument<X>::element;

/// Where the elements of a call go: a pointer, or a std::vector that is resized.
template <class T>
struct place_for : output {
    place_for(T* data) // NOLINT(google-explicit-constructor): calls take either
        : output(data) {}
    place_for(std::vector<T>& vector) // NOLINT(google-explicit-constructor)
        requires(!std::same_as<T, bool>)
        : output(vector) {}
};

/// What the forms of a collective do with their call: run it, or return its request.
template <collective_kind Operation, bool Blocking>
struct collective_forms {
    using result = std::conditional_t<Blocking, void, request>;
    static constexpr auto operation = Operation;

    // Inlined, so that what it calls returns to where the collective is called.
    template <class Comm, class Policy>
    [[gnu::always_inline]] static auto make(Comm& comm, call_description&& call, Policy const& policy)
        -> result {
        require_communicator<Comm, Policy>();
        auto&& used = as_policy(policy);
        if constexpr (Blocking)
            run_call(ranks_of(comm), call, policy_ref::to(used));
        else
            return begin_call(ranks_of(comm), call, policy_ref::to(used));
    }
    /// The call of elements of type T that the operator, if there is one, combines.
    template <class Policy, class T, class... Op>
    static auto described(Op... op) -> call_description {
        require_call<Operation, policy_type<Policy>, T, Op...>();
        return call_description::of<T>(Operation, std::move(op)...);
    }
    /// n elements each.
    template <class Policy, class T, class... Op>
    static auto describe(T const* in, std::size_t n, output const& out, Op... op) -> call_description {
        auto call = described<Policy, T>(std::move(op)...);
        call.memory.in = in;
        call.n = n;
        call.out = out;
        return call;
    }
    template <class Policy, in_place_array V, class... Op>
    static auto describe(V values, std::size_t n, Op... op) -> call_description {
        return in_place<Policy, in_place_array_element<V>>(values.buffer, n, std::move(op)...);
    }
    /// One element each.
    template <class Policy, in_place_value V, class... Op>
    static auto describe(V value, Op... op) -> call_description {
        return in_place<Policy, in_place_value_element<V>>(&value.buffer, 1, std::move(op)...);
    }

private:
    template <class Policy, class T, class... Op>
    static auto in_place(T* values, std::size_t n, Op... op) -> call_description {
        constexpr bool gathers =
            Operation == collective_kind::gather || Operation == collective_kind::all_gather;
        auto call = describe<Policy, T>(gathers ? nullptr : values, n, output(values), std::move(op)...);
        call.in_place = true;
        return call;
    }
};

} // namespace detail

} // namespace papcoll::inline v0
