// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/boost_mpi_names.hpp>

#include <complex>
#include <concepts>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>

namespace papcoll::inline v0 {

/// What reductions combine elements with. For `Op& op`, `T const a, b`:
///
///  1. `op(a, b)` is convertible to T. It may throw: the operation is then completed without the operator and
///     the exception is rethrown from the call, or from wait.
///  2. The operator is associative. Floating-point sums are treated as if they were.
///  3. Op is copyable; each operation works on a copy of its own. State is welcome, synchronisation is not
///     needed: an operation calls its copy from one thread at a time.
///  4. `a` is always the operand of the lower ranks where the algorithm keeps rank order.
///
///     struct closest { // a minimal model with state
///         double target;
///         auto operator()(double a, double b) const {
///             return std::abs(a - target) <= std::abs(b - target) ? a : b;
///         }
///     };
template <class Op, class T>
concept reduction_operator = std::copy_constructible<Op> && requires(Op& op, T const& a, T const& b) {
    { op(a, b) } -> std::convertible_to<T>;
};

/// A callable declared commutative by commutative(f).
template <class F>
struct commutative_operator {
    /// The callable that was given.
    F function;

    /// What the callable makes of a and b.
    template <class T>
    requires std::invocable<F&, T const&, T const&>
    constexpr auto operator()(T const& a,
                              T const& b) noexcept(std::is_nothrow_invocable_v<F&, T const&, T const&>)
        -> decltype(auto) {
        return function(a, b);
    }
};

/// Declares f(a, b) == f(b, a), so that algorithms that reorder operands may use it.
template <class F>
[[nodiscard]] constexpr auto commutative(F f) -> commutative_operator<F> {
    return {std::move(f)};
}

/// A callable declared by in_any_order(f).
template <class F>
struct any_order_operator {
    /// The callable that was given.
    F function;

    /// What the callable makes of a and b.
    template <class T>
    requires std::invocable<F&, T const&, T const&>
    constexpr auto operator()(T const& a,
                              T const& b) noexcept(std::is_nothrow_invocable_v<F&, T const&, T const&>)
        -> decltype(auto) {
        return function(a, b);
    }
};

/// Declares that f commutes, and that operands may be combined in the order in which they come, which may be
/// another one in each run: then the ranks of a node combine, while they wait for one rank, what all others
/// have given. All ranks get the same bits, but another run may get others. It need not be said of operators
/// that are exact, see is_exactly_associative: their results do not depend on the order.
///
///     papcoll::reduce(world, mine.data(), n, sum.data(), papcoll::in_any_order(std::plus<>()), root);
template <class F>
[[nodiscard]] constexpr auto in_any_order(F f) -> any_order_operator<F> {
    return {std::move(f)};
}

namespace detail {

template <class T>
struct is_complex : std::false_type {};
template <class T>
struct is_complex<std::complex<T>> : std::true_type {};

template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> || is_complex<T>::value;

template <class Op, class T>
inline constexpr bool is_standard_commutative = false;
template <class U, class T>
requires std::is_void_v<U> || std::same_as<U, T>
inline constexpr bool is_standard_commutative<std::plus<U>, T> = is_number<T>;
template <class U, class T>
requires std::is_void_v<U> || std::same_as<U, T>
inline constexpr bool is_standard_commutative<std::multiplies<U>, T> = is_number<T>;
template <class U, class T>
requires std::is_void_v<U> || std::same_as<U, T>
inline constexpr bool is_standard_commutative<std::bit_and<U>, T> = std::integral<T>;
template <class U, class T>
requires std::is_void_v<U> || std::same_as<U, T>
inline constexpr bool is_standard_commutative<std::bit_or<U>, T> = std::integral<T>;
template <class U, class T>
requires std::is_void_v<U> || std::same_as<U, T>
inline constexpr bool is_standard_commutative<std::bit_xor<U>, T> = std::integral<T>;
template <class U, class T>
requires std::is_void_v<U> || std::same_as<U, T>
inline constexpr bool is_standard_commutative<std::logical_and<U>, T> = std::is_arithmetic_v<T>;
template <class U, class T>
requires std::is_void_v<U> || std::same_as<U, T>
inline constexpr bool is_standard_commutative<std::logical_or<U>, T> = std::is_arithmetic_v<T>;

} // namespace detail

/// Whether Op commutes on T: Boost.MPI's trait of that name, or an operation MPI itself knows, or one of the
/// standard's function objects on numbers, or anything wrapped by commutative(f).
template <class Op, class T>
struct is_commutative : std::bool_constant<detail::says_true<boost::mpi::is_commutative, Op, T> ||
                                           detail::says_true<boost::mpi::is_mpi_op, Op, T> ||
                                           detail::is_standard_commutative<Op, T>> {};

template <class F, class T>
struct is_commutative<commutative_operator<F>, T> : std::true_type {};
template <class F, class T>
struct is_commutative<any_order_operator<F>, T> : std::true_type {};

namespace detail {

template <class Op, class T>
inline constexpr bool is_exact_on_integers = is_standard_commutative<Op, T>&& std::integral<T>;
template <class Op, class T>
inline constexpr bool is_integer_extreme = false;
template <std::integral T>
inline constexpr bool is_integer_extreme<boost::mpi::maximum<T>, T> = true;
template <std::integral T>
inline constexpr bool is_integer_extreme<boost::mpi::minimum<T>, T> = true;

} // namespace detail

/// Whether Op gives the same bits in whatever order it combines: true for the standard's function objects and
/// Boost.MPI's extremes on integers. A specialisation says it of other operators; floating-point sums are
/// not, nor are extremes of floating-point numbers, of which two NaNs or zeros may be equally good.
template <class Op, class T>
struct is_exactly_associative
    : std::bool_constant<detail::is_exact_on_integers<Op, T> || detail::is_integer_extreme<Op, T>> {};

template <class F, class T>
struct is_exactly_associative<commutative_operator<F>, T> : is_exactly_associative<F, T> {};
template <class F, class T>
struct is_exactly_associative<any_order_operator<F>, T> : is_exactly_associative<F, T> {};

/// Whether operands may be combined in the order in which they come: in_any_order(f) says so, and of exact
/// operators that commute it is known.
template <class Op, class T>
struct combines_in_any_order
    : std::bool_constant<is_exactly_associative<Op, T>::value && is_commutative<Op, T>::value> {};
template <class F, class T>
struct combines_in_any_order<any_order_operator<F>, T> : std::true_type {};

/// The neutral element of Op on T where it has one: `operator_identity<Op, T>::value()`. Known for the
/// standard's and Boost.MPI's function objects on numbers; an operator of one's own says it by a member
/// `identity()`, or by a specialisation.
template <class Op, class T>
struct operator_identity {};

/// An operator with a neutral element on T, see operator_identity. A model is std::plus<> on double; a
/// near-miss std::plus<> on std::string, of which nothing is known.
template <class Op, class T>
concept has_identity = requires {
    { operator_identity<Op, T>::value() } -> std::convertible_to<T>;
};

template <class Op, class T>
requires requires {
    { Op::identity() } -> std::convertible_to<T>;
}
struct operator_identity<Op, T> {
    static constexpr auto value() -> T { return Op::identity(); }
};
template <class U, class T>
requires detail::is_number<T>
struct operator_identity<std::plus<U>, T> {
    static constexpr auto value() -> T { return T(0); }
};
template <class U, class T>
requires detail::is_number<T>
struct operator_identity<std::multiplies<U>, T> {
    static constexpr auto value() -> T { return T(1); }
};
template <class U, std::integral T>
struct operator_identity<std::bit_and<U>, T> {
    static constexpr auto value() -> T { return static_cast<T>(~T(0)); }
};
template <class U, std::integral T>
struct operator_identity<std::bit_or<U>, T> {
    static constexpr auto value() -> T { return T(0); }
};
template <class U, std::integral T>
struct operator_identity<std::bit_xor<U>, T> {
    static constexpr auto value() -> T { return T(0); }
};
template <class U, class T>
requires std::is_arithmetic_v<T>
struct operator_identity<std::logical_and<U>, T> {
    static constexpr auto value() -> T { return T(true); }
};
template <class U, class T>
requires std::is_arithmetic_v<T>
struct operator_identity<std::logical_or<U>, T> {
    static constexpr auto value() -> T { return T(false); }
};
template <class T>
requires std::is_arithmetic_v<T>
struct operator_identity<boost::mpi::maximum<T>, T> {
    static constexpr auto value() -> T {
        using limits = std::numeric_limits<T>;
        return limits::has_infinity ? -limits::infinity() : limits::lowest();
    }
};
template <class T>
requires std::is_arithmetic_v<T>
struct operator_identity<boost::mpi::minimum<T>, T> {
    static constexpr auto value() -> T {
        using limits = std::numeric_limits<T>;
        return limits::has_infinity ? limits::infinity() : limits::max();
    }
};

} // namespace papcoll::inline v0
