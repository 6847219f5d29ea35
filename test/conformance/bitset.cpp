// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// One suite for all models of state_bitset. Compiled once per instruction set, with that set's flags.
#include <papcoll/scheduler/bitset/bit_matrix.hpp>
#include <papcoll/scheduler/bitset/rows.hpp>
#include <papcoll/scheduler/bitset/simd_bitset.hpp>
#include <papcoll/scheduler/bitset/word_bitset.hpp>
#include <papcoll/scheduler/clairvoyant.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#define BITSETS papcoll::word_bitset, papcoll::simd_bitset<>

namespace {

using papcoll::bit_matrix;
using papcoll::bitset_word;
using papcoll::lane_bits;
namespace rows = papcoll::rows;

constexpr std::array<std::size_t, 13> lengths{1, 2, 63, 64, 65, 127, 128, 255, 256, 257, 511, 513, 1100};

/// A row of random bits and the same as plain bools.
template <class Bits>
struct sample {
    sample(std::size_t length, std::mt19937_64& random, unsigned one_in)
        : matrix(1, length)
        , plain(length) {
        for (std::size_t i = 0; i < length; ++i)
            if (random() % one_in == 0) {
                matrix.set(0, i);
                plain[i] = true;
            }
    }
    bit_matrix<Bits> matrix;
    std::vector<bool> plain;
};

template <class Bits>
auto to_plain(bit_matrix<Bits> const& matrix, std::size_t length) -> std::vector<bool> {
    std::vector<bool> plain(length);
    for (std::size_t i = 0; i < length; ++i) plain[i] = matrix.test(0, i);
    return plain;
}

template <class Bits, class Operation>
auto lane_result(Operation const& operation) -> std::vector<bitset_word> {
    bit_matrix<Bits> result(1, lane_bits<Bits>);
    Bits::store(result.row(0), operation());
    return {result.row(0), result.row(0) + result.row_words()};
}

} // namespace

TEST_CASE("the instruction set of this file is the one under test") {
    CHECK(papcoll::simd_bitset<>::lane_words * sizeof(bitset_word) == PAPCOLL_EXPECTED_LANE_BYTES);
}

TEST_CASE_TEMPLATE("lanes: one bit set and cleared at every place", Bits, BITSETS) {
    static_assert(papcoll::state_bitset<Bits>);
    CHECK_FALSE(Bits::any(Bits::zero()));
    for (std::size_t i = 0; i < lane_bits<Bits>; ++i) {
        auto const bit = Bits::bit(i);
        CHECK(Bits::any(bit));
        CHECK(Bits::first(bit) == i);
        std::vector<bitset_word> expected(Bits::lane_words, 0);
        expected[i / 64] = bitset_word{1} << (i % 64);
        CHECK(lane_result<Bits>([&] { return Bits::bit(i); }) == expected);
        CHECK_FALSE(Bits::any(bit & ~bit));
        CHECK_FALSE(Bits::any(bit ^ bit));
        CHECK_FALSE(Bits::any(bit & Bits::bit((i + 1) % lane_bits<Bits>)));
        auto const last = Bits::bit(lane_bits<Bits> - 1);
        CHECK(Bits::first(bit | last) == i);
        CHECK(Bits::first(~Bits::zero() & ~(Bits::bit(0) | Bits::zero())) == 1);
    }
}

TEST_CASE_TEMPLATE("lanes: operators agree with those of words", Bits, BITSETS) {
    std::mt19937_64 random(1);
    for (int repetition = 0; repetition < 50; ++repetition) {
        bit_matrix<Bits> operands(2, lane_bits<Bits>);
        for (std::size_t w = 0; w < 2 * Bits::lane_words; ++w) operands.row(0)[w] = random();
        auto const a = Bits::load(operands.row(0));
        auto const b = Bits::load(operands.row(1));
        std::array<std::vector<bitset_word>, 4> expected;
        for (std::size_t w = 0; w < Bits::lane_words; ++w) {
            auto const x = operands.row(0)[w];
            auto const y = operands.row(1)[w];
            expected[0].push_back(x | y);
            expected[1].push_back(x & y);
            expected[2].push_back(x ^ y);
            expected[3].push_back(x & ~y);
        }
        CHECK(lane_result<Bits>([&] { return a | b; }) == expected[0]);
        CHECK(lane_result<Bits>([&] { return a & b; }) == expected[1]);
        CHECK(lane_result<Bits>([&] { return a ^ b; }) == expected[2]);
        CHECK(lane_result<Bits>([&] { return a & ~b; }) == expected[3]);
    }
}

TEST_CASE_TEMPLATE("rows: or, and, and-not, copy, any, first set bit", Bits, BITSETS) {
    std::mt19937_64 random(2);
    for (auto const length : lengths)
        for (unsigned const one_in : {1U, 2U, 40U, 5000U}) {
            sample<Bits> const a(length, random, one_in);
            sample<Bits> const b(length, random, 3);
            auto const* const x = a.matrix.row(0);
            auto const* const y = b.matrix.row(0);
            bit_matrix<Bits> result(1, length);
            auto const lanes = result.lanes();
            auto const check = [&](auto const& operation) {
                std::vector<bool> expected(length);
                for (std::size_t i = 0; i < length; ++i) expected[i] = operation(a.plain[i], b.plain[i]);
                CHECK(to_plain(result, length) == expected);
                auto const first = std::find(expected.begin(), expected.end(), true);
                bool const some = first != expected.end();
                CHECK(rows::any<Bits>(result.row(0), lanes) == some);
                CHECK(rows::first_set<Bits>(result.row(0), lanes) ==
                      (some ? static_cast<std::size_t>(first - expected.begin()) : rows::none));
            };
            rows::unite<Bits>(result.row(0), x, y, lanes);
            check([](bool p, bool q) { return p || q; });
            rows::intersect<Bits>(result.row(0), x, y, lanes);
            check([](bool p, bool q) { return p && q; });
            rows::subtract<Bits>(result.row(0), x, y, lanes);
            check([](bool p, bool q) { return p && !q; });
            rows::copy<Bits>(result.row(0), x, lanes);
            check([](bool p, bool) { return p; });
            rows::subtract<Bits>(result.row(0), result.row(0), x, lanes); // in place
            check([](bool, bool) { return false; });
        }
}

TEST_CASE_TEMPLATE("matrices: rows are aligned and apart, padding stays clear", Bits, BITSETS) {
    for (auto const length : lengths) {
        bit_matrix<Bits> matrix(3, length);
        CHECK(matrix.row_words() * 64 >= length);
        CHECK(matrix.row_words() * 64 < length + lane_bits<Bits>);
        CHECK(matrix.memory_bytes() == 3 * matrix.row_words() * sizeof(bitset_word));
        for (std::size_t r = 0; r < 3; ++r)
            CHECK(reinterpret_cast<std::uintptr_t>(matrix.row(r)) %
                      (Bits::lane_words * sizeof(bitset_word)) ==
                  0);
        matrix.fill(1);
        CHECK_FALSE(rows::any<Bits>(matrix.row(0), matrix.lanes()));
        CHECK_FALSE(rows::any<Bits>(matrix.row(2), matrix.lanes()));
        for (std::size_t i = 0; i < length; ++i) {
            CHECK(matrix.test(1, i));
            CHECK(rows::first_set<Bits>(matrix.row(1), matrix.lanes()) == i);
            matrix.clear(1, i);
        }
        CHECK_FALSE(rows::any<Bits>(matrix.row(1), matrix.lanes()));
        matrix.set(2, length - 1);
        CHECK(rows::first_set<Bits>(matrix.row(2), matrix.lanes()) == length - 1);
        matrix.reset(2);
        CHECK_FALSE(matrix.test(2, length - 1));
    }
}

TEST_CASE_TEMPLATE("schedules do not depend on the bitset", Bits, BITSETS) {
    std::mt19937_64 random(3);
    for (auto const& [ranks, blocks] : {std::pair{9, 70}, {33, 130}, {70, 300}, {5, 600}}) {
        std::vector<papcoll::ticks> arrivals(static_cast<std::size_t>(ranks));
        for (auto& a : arrivals) a = papcoll::ticks{static_cast<std::int64_t>(random() % 200)};
        papcoll::problem const p{.ranks = ranks, .root = ranks / 2, .blocks = blocks, .arrivals = arrivals};
        auto const schedule = [&]<class Search>(Search const*) {
            return papcoll::clairvoyant_scheduler<Search>{.round = papcoll::ticks{7}}.transfers(p);
        };
        auto const expected = schedule(static_cast<papcoll::linear_search const*>(nullptr));
        CHECK(schedule(static_cast<papcoll::segment_tree<Bits> const*>(nullptr)) == expected);
        CHECK(schedule(static_cast<papcoll::sliced_counters<Bits> const*>(nullptr)) == expected);
    }
}
