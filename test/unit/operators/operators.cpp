// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/operators/combine.hpp>
#include <papcoll/operators/operators.hpp>

#include <boost/mpi/operations.hpp>
#include <doctest/doctest.h>

#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace {

struct vec2 {
    double x = 0, y = 0;
    friend auto operator==(vec2 const&, vec2 const&) -> bool = default;
};

struct add_vec2 { // archetype: exactly what the concept asks for
    auto operator()(vec2 const& a, vec2 const& b) -> vec2 { return {a.x + b.x, a.y + b.y}; }
    static constexpr auto identity() -> vec2 { return {}; }
};
struct not_callable {};
struct wrong_result {
    auto operator()(vec2 const&, vec2 const&) const -> std::string { return {}; }
};
struct takes_mutable {
    auto operator()(vec2& a, vec2&) const -> vec2 { return a; }
};
struct not_copyable {
    not_copyable() = default;
    not_copyable(not_copyable const&) = delete;
    auto operator()(vec2 const& a, vec2 const&) const -> vec2 { return a; }
};
struct declared {
    auto operator()(vec2 const& a, vec2 const&) const -> vec2 { return a; }
};

} // namespace

template <>
struct boost::mpi::is_commutative<declared, vec2> : std::true_type {};

TEST_CASE("the concept takes what it documents and nothing less") {
    using papcoll::reduction_operator;
    CHECK(reduction_operator<add_vec2, vec2>);
    CHECK(reduction_operator<std::plus<>, double>);
    auto const lambda = [](vec2 a, vec2 b) { return vec2{a.x * b.x, a.y * b.y}; };
    CHECK(reduction_operator<decltype(lambda), vec2>);
    CHECK_FALSE(reduction_operator<not_callable, vec2>);
    CHECK_FALSE(reduction_operator<wrong_result, vec2>);
    CHECK_FALSE(reduction_operator<takes_mutable, vec2>);
    CHECK_FALSE(reduction_operator<not_copyable, vec2>);
    CHECK_FALSE(reduction_operator<std::plus<>, vec2>);
}

TEST_CASE("commutativity is known, declared or absent") {
    using papcoll::is_commutative;
    CHECK(is_commutative<std::plus<>, float>::value);
    CHECK(is_commutative<std::plus<float>, float>::value);
    CHECK(is_commutative<std::multiplies<>, std::complex<double>>::value);
    CHECK(is_commutative<std::bit_xor<>, std::uint64_t>::value);
    CHECK(is_commutative<std::logical_or<>, bool>::value);
    CHECK(is_commutative<boost::mpi::maximum<int>, int>::value);
    CHECK(is_commutative<declared, vec2>::value);
    CHECK(is_commutative<decltype(papcoll::commutative(add_vec2{})), vec2>::value);
    CHECK_FALSE(is_commutative<std::plus<>, std::string>::value);
    CHECK_FALSE(is_commutative<std::minus<>, int>::value);
    CHECK_FALSE(is_commutative<std::plus<int>, float>::value);
    CHECK_FALSE(is_commutative<std::bit_and<>, double>::value);
    CHECK_FALSE(is_commutative<add_vec2, vec2>::value);
}

TEST_CASE("identities are neutral") {
    CHECK(papcoll::operator_identity<std::plus<>, int>::value() == 0);
    CHECK(papcoll::operator_identity<std::multiplies<double>, double>::value() == 1.0);
    CHECK(papcoll::operator_identity<std::bit_and<>, std::uint8_t>::value() == 0xff);
    CHECK(papcoll::operator_identity<boost::mpi::maximum<int>, int>::value() ==
          std::numeric_limits<int>::lowest());
    CHECK(papcoll::operator_identity<boost::mpi::minimum<float>, float>::value() ==
          std::numeric_limits<float>::infinity());
    CHECK(papcoll::operator_identity<boost::mpi::maximum<float>, float>::value() ==
          -std::numeric_limits<float>::infinity());
    CHECK(papcoll::operator_identity<add_vec2, vec2>::value() == vec2{});
    CHECK(papcoll::has_identity<std::logical_and<>, bool>);
    CHECK_FALSE(papcoll::has_identity<declared, vec2>);
    CHECK_FALSE(papcoll::has_identity<std::minus<>, int>);
}

TEST_CASE("a commutative operator keeps its function's state") {
    int calls = 0;
    auto op = papcoll::commutative([&calls](int a, int b) {
        ++calls;
        return a + b;
    });
    CHECK(op(2, 3) == 5);
    CHECK(calls == 1);
}

TEST_CASE("combine puts the lower operand left wherever the result goes") {
    auto op = std::minus<>();
    for (std::size_t const n : {0u, 1u, 7u, 64u, 1000u}) {
        std::vector<double> left(n), right(n), apart(n), expected(n);
        for (std::size_t i = 0; i < n; ++i) {
            left[i] = static_cast<double>(3 * i + 1);
            right[i] = static_cast<double>(i * i);
            expected[i] = left[i] - right[i];
        }
        auto into_left = left, into_right = right;
        papcoll::detail::combine(into_left.data(), right.data(), into_left.data(), n, op);
        papcoll::detail::combine(left.data(), into_right.data(), into_right.data(), n, op);
        papcoll::detail::combine(left.data(), right.data(), apart.data(), n, op);
        CHECK(into_left == expected);
        CHECK(into_right == expected);
        CHECK(apart == expected);
    }
}

TEST_CASE("an operator's exception leaves combine") {
    std::vector<int> a(3), b(3);
    auto op = [](int, int) -> int { throw std::runtime_error("no"); };
    CHECK_THROWS_AS(papcoll::detail::combine(a.data(), b.data(), a.data(), 3, op), std::runtime_error);
}

TEST_CASE("exactly associative is what gives the same bits in any order, and nothing with rounding") {
    using papcoll::is_exactly_associative;
    CHECK(is_exactly_associative<std::plus<>, int>::value);
    CHECK(is_exactly_associative<std::plus<std::uint64_t>, std::uint64_t>::value);
    CHECK(is_exactly_associative<std::multiplies<>, short>::value);
    CHECK(is_exactly_associative<std::bit_and<>, unsigned>::value);
    CHECK(is_exactly_associative<std::bit_or<>, unsigned char>::value);
    CHECK(is_exactly_associative<std::bit_xor<int>, int>::value);
    CHECK(is_exactly_associative<std::logical_and<>, bool>::value);
    CHECK(is_exactly_associative<boost::mpi::maximum<long>, long>::value);
    CHECK(is_exactly_associative<boost::mpi::minimum<int>, int>::value);
    CHECK_FALSE(is_exactly_associative<std::plus<>, float>::value);
    CHECK_FALSE(is_exactly_associative<std::plus<double>, double>::value);
    CHECK_FALSE(is_exactly_associative<std::plus<int>, double>::value);
    CHECK_FALSE(is_exactly_associative<std::plus<>, std::complex<float>>::value);
    CHECK_FALSE(is_exactly_associative<std::multiplies<>, long double>::value);
    CHECK_FALSE(is_exactly_associative<boost::mpi::maximum<float>, float>::value); // of 0 and -0
    CHECK_FALSE(is_exactly_associative<std::minus<>, int>::value);
    CHECK_FALSE(is_exactly_associative<std::plus<>, vec2>::value);
    CHECK_FALSE(is_exactly_associative<declared, vec2>::value); // commutative says nothing of it
}

TEST_CASE("declaring an operator commutative keeps what is known of its exactness") {
    using papcoll::is_exactly_associative;
    using known = papcoll::commutative_operator<std::plus<>>;
    CHECK(is_exactly_associative<known, int>::value);
    CHECK_FALSE(is_exactly_associative<known, float>::value);
    auto const op = papcoll::commutative([](int a, int b) { return a | b; });
    CHECK_FALSE(is_exactly_associative<decltype(op), int>::value);
}

TEST_CASE("declared operators are noexcept where what they call is") {
    auto const quiet = [](int a, int b) noexcept { return a + b; };
    auto const loud = [](int a, int b) { return a + b; };
    using quiet_sum = decltype(papcoll::commutative(quiet));
    using loud_sum = decltype(papcoll::commutative(loud));
    CHECK(std::is_nothrow_invocable_v<quiet_sum&, int const&, int const&>);
    CHECK_FALSE(std::is_nothrow_invocable_v<loud_sum&, int const&, int const&>);
    CHECK(std::is_nothrow_invocable_v<decltype(papcoll::in_any_order(quiet))&, int const&, int const&>);
}
