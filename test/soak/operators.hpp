// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/serialization.hpp>
#include <papcoll/operators/operators.hpp>
#include <papcoll/papcoll.hpp>

#include <boost/mpi/operations.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <utility>

#include "elements.hpp"
#include "values.hpp"

namespace soak {

struct add_triples {
    auto operator()(triple const& x, triple const& y) const -> triple {
        return {x.a + y.a, x.b + y.b, x.c + y.c};
    }
};
/// Has state.
struct add_modulo {
    int modulus;
    auto operator()(int a, int b) const -> int { return ((a + b) % modulus + modulus) % modulus; }
};
struct multiply {
    auto operator()(matrix const& x, matrix const& y) const -> matrix {
        auto const& [a, b, c, d] = x.cells;
        auto const& [e, f, g, h] = y.cells;
        return {{a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h}};
    }
};
struct add_counts {
    auto operator()(counts x, counts const& y) const -> counts {
        for (auto const& [word, n] : y) x[word] += n;
        return x;
    }
};

using modular_sum = papcoll::commutative_operator<add_modulo>;

/// A type of elements and an operator on them; `make(number)` makes the operator, the same for equal numbers.
template <class T, class Op>
struct reduction_case {
    using value_type = T;
    using operator_type = Op;
    static auto make([[maybe_unused]] std::uint64_t number) -> Op {
        if constexpr (std::same_as<Op, modular_sum>)
            return papcoll::commutative(add_modulo{static_cast<int>(2 + number % 1000)});
        else if constexpr (std::same_as<Op, papcoll::any_order_operator<std::plus<>>>)
            return papcoll::in_any_order(std::plus<>());
        else
            return Op{};
    }
};

/// In the order of reduction_table.
using reductions =
    std::tuple<reduction_case<int, std::plus<>>, reduction_case<double, std::plus<>>,
               reduction_case<char, std::bit_or<>>, reduction_case<int, boost::mpi::maximum<int>>,
               reduction_case<double, boost::mpi::minimum<double>>, reduction_case<int, modular_sum>,
               reduction_case<triple, papcoll::commutative_operator<add_triples>>,
               reduction_case<padded, papcoll::commutative_operator<add_padded>>,
               reduction_case<matrix, multiply>, reduction_case<std::string, std::plus<>>,
               reduction_case<counts, papcoll::commutative_operator<add_counts>>,
               reduction_case<double, papcoll::any_order_operator<std::plus<>>>>;
static_assert(std::tuple_size_v<reductions> == reduction_table.size());

template <class Case>
inline constexpr bool commutes =
    papcoll::is_commutative<typename Case::operator_type, typename Case::value_type>::value;

/// Whether the table says of each case what papcoll thinks of it.
template <std::size_t... I>
constexpr auto table_is_right(std::index_sequence<I...>) -> bool {
    return ((reduction_table[I].commutative == commutes<std::tuple_element_t<I, reductions>> &&
             reduction_table[I].serialized ==
                 papcoll::serializable<typename std::tuple_element_t<I, reductions>::value_type>)&&...);
}
static_assert(table_is_right(std::make_index_sequence<reduction_table.size()>()));

/// What n elements of `ranks` ranks combine to, in the order of ranks; those of rank r are, from `first` on,
/// what key_of(r) stands for.
template <class Case, class KeyOf>
[[nodiscard]] auto combined(std::uint64_t number, int ranks, std::size_t n, std::size_t first, KeyOf key_of) {
    using value = typename Case::value_type;
    auto op = Case::make(number);
    auto result = contents<value>(key_of(0), n, first);
    for (int r = 1; r < ranks; ++r) {
        auto const operands = contents<value>(key_of(r), n, first);
        auto* left = result.data();
        for (auto const& right : operands) {
            *left = static_cast<value>(op(*left, right));
            ++left;
        }
    }
    return result;
}

} // namespace soak

/// So that a census of all ranks' triples is among the ways of an all-reduce.
template <>
struct papcoll::is_exactly_associative<soak::add_triples, soak::triple> : std::true_type {};
