// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// Compiled at several levels of optimisation: the sign and the payload of a NaN are those of one operand, and
// which one it is depends on the machine code, so all ranks must combine by the same.
#include <papcoll/collective/all_reduce.hpp>
#include <papcoll/context/attach.hpp>
#include <papcoll/program/whole_operands.hpp>
#include <papcoll/scheduler/butterfly.hpp>
#include <papcoll/transport/threads.hpp>

#include <boost/mpi/inplace.hpp>
#include <boost/mpi/operations.hpp>
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

#include "../support/own_program.hpp"
#include "../support/sanitized.hpp"

using papcoll::threads::endpoint;

namespace {

template <class T>
using bits_of = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// A quiet NaN with a sign and a payload of one's own on each rank. Some elements are NaNs on all ranks, some
/// on one of them, some on none.
template <class T>
auto operand(int rank, int ranks, std::size_t i) -> T {
    auto const j = static_cast<int>(i % 64);
    if (j % 4 == 3 || (j % 4 == 2 && j / 4 % ranks != rank))
        return static_cast<T>(rank + 1) / T(3) + static_cast<T>(i);
    using bits = bits_of<T>;
    constexpr bits quiet = sizeof(T) == 4 ? bits(0x7fc00000U) : static_cast<bits>(0x7ff8000000000000U);
    constexpr bits sign = bits(1) << (8 * sizeof(T) - 1);
    return std::bit_cast<T>(quiet + static_cast<bits>(100 * rank + j + 1) +
                            ((rank + j) % 3 == 0 ? sign : bits(0)));
}

struct scaled_sum { // has a state, and what may become one instruction of multiplication and addition
    double factor;
    template <class T>
    auto operator()(T a, T b) const -> T {
        return a * static_cast<T>(factor) + b * static_cast<T>(factor);
    }
};

enum class way { butterfly, gather_combine };

/// All ranks' operands one behind the other, in memory of papcoll's, and combined there.
void write_gather_combine(papcoll::program_builder& to, papcoll::call_shape const& shape) {
    auto const n = shape.count;
    papcoll::region const in(papcoll::memory::in, 0, n);
    auto const all = to.scratch(n * static_cast<std::size_t>(shape.ranks));
    for (int rank = 0; rank < shape.ranks; ++rank) {
        auto const part = all.part(n * static_cast<std::size_t>(rank), n);
        if (rank == shape.rank)
            to.copy(part, in);
        else
            to.receive(rank, part);
    }
    for (int rank = 0; rank < shape.ranks; ++rank)
        if (rank != shape.rank) to.send(rank, in);
    papcoll::write_ordered_combination(to, all, n);
}

template <class T, class Op>
void run(endpoint& self, way how, T const* in, T* out, std::size_t n, Op op) {
    own_program const policy{[how](papcoll::program_builder& to, papcoll::call_shape const& shape) {
        if (how == way::gather_combine)
            write_gather_combine(to, shape);
        else
            write_butterfly(to, papcoll::butterfly(shape.ranks, shape.rank), shape.rank, shape.count);
    }};
    if (in == out)
        papcoll::all_reduce(self, boost::mpi::inplace(out), n, op, policy);
    else
        papcoll::all_reduce(self, in, n, out, op, policy);
}

/// All ranks' results; each rank has its operands and its result at another distance from a cache line, and
/// some reduce in place.
template <class T, class Op>
auto results(way how, int ranks, std::size_t n, Op const& op) -> std::vector<std::vector<T>> {
    std::vector<std::vector<T>> all(static_cast<std::size_t>(ranks));
    papcoll::threads::run(ranks, [&](endpoint& self) {
        papcoll::attach(self);
        int const rank = self.rank();
        auto const shift = static_cast<std::size_t>(rank) % 5;
        bool const in_place = (rank + ranks) % 3 == 0;
        std::vector<T> in(n + 8), out(n + 8);
        for (std::size_t i = 0; i < n; ++i) in[i + shift] = out[i + 2 * shift] = operand<T>(rank, ranks, i);
        T* const to = out.data() + 2 * shift;
        run(self, how, in_place ? to : in.data() + shift, to, n, op);
        all[static_cast<std::size_t>(rank)].assign(to, to + n);
    });
    return all;
}

template <class T>
auto same(std::vector<T> const& a, std::vector<T> const& b) -> bool {
    for (std::size_t i = 0; i < a.size(); ++i)
        if (std::bit_cast<bits_of<T>>(a[i]) != std::bit_cast<bits_of<T>>(b[i])) return false;
    return true;
}

template <class T, class Op>
void same_bits(Op const& op) {
    for (way const how : {way::butterfly, way::gather_combine})
        for (int const ranks : test_support::sanitized ? std::vector{2, 5} : std::vector{2, 3, 4, 5, 7, 8})
            for (std::size_t const n : {1U, 2U, 3U, 7U, 16U, 33U, 1031U}) {
                auto const all = results<T>(how, ranks, n, op);
                std::size_t different = 0;
                for (auto const& one : all) different += same(one, all.front()) ? 0 : 1;
                CAPTURE(static_cast<int>(how));
                CAPTURE(ranks);
                CAPTURE(n);
                CHECK(different == 0);
            }
}
template <class T>
void same_bits_of_all_operators() {
    SUBCASE("plus") { same_bits<T>(std::plus<>()); }
    SUBCASE("multiplies") { same_bits<T>(std::multiplies<>()); }
    SUBCASE("maximum") { same_bits<T>(boost::mpi::maximum<T>()); }
    SUBCASE("minimum") { same_bits<T>(boost::mpi::minimum<T>()); }
    SUBCASE("a sum with a state") { same_bits<T>(scaled_sum{1.1}); }
}

} // namespace

TEST_CASE("all ranks get the same bits of floats, NaNs among them") { same_bits_of_all_operators<float>(); }
TEST_CASE("all ranks get the same bits of doubles, NaNs among them") { same_bits_of_all_operators<double>(); }
