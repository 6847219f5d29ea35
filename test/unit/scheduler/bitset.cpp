// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/scheduler/bitset/bit_matrix.hpp>
#include <papcoll/scheduler/bitset/rows.hpp>
#include <papcoll/scheduler/bitset/simd_bitset.hpp>
#include <papcoll/scheduler/bitset/state_bitset.hpp>
#include <papcoll/scheduler/bitset/word_bitset.hpp>
#include <papcoll/scheduler/clairvoyant.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cstddef>
#include <vector>

namespace {

using papcoll::bitset_word;

/// A user's model: two words without any vector instruction.
struct pair_bitset {
    struct lane {
        bitset_word low = 0;
        bitset_word high = 0;
        friend auto operator|(lane a, lane b) -> lane { return {a.low | b.low, a.high | b.high}; }
        friend auto operator&(lane a, lane b) -> lane { return {a.low & b.low, a.high & b.high}; }
        friend auto operator^(lane a, lane b) -> lane { return {a.low ^ b.low, a.high ^ b.high}; }
        friend auto operator~(lane a) -> lane { return {~a.low, ~a.high}; }
    };
    static constexpr std::size_t lane_words = 2;

    static auto load(bitset_word const* from) -> lane { return {from[0], from[1]}; }
    static void store(bitset_word* to, lane a) {
        to[0] = a.low;
        to[1] = a.high;
    }
    static auto zero() -> lane { return {}; }
    static auto bit(std::size_t i) -> lane {
        return i < 64 ? lane{bitset_word{1} << i, 0} : lane{0, bitset_word{1} << (i - 64)};
    }
    static auto any(lane a) -> bool { return (a.low | a.high) != 0; }
    static auto first(lane a) -> std::size_t {
        return static_cast<std::size_t>(a.low != 0 ? std::countr_zero(a.low) : 64 + std::countr_zero(a.high));
    }
};

struct three_words : pair_bitset {
    static constexpr std::size_t lane_words = 3;
};
struct without_complement : papcoll::word_bitset {
    struct lane {
        auto operator|(lane) const -> lane;
        auto operator&(lane) const -> lane;
        auto operator^(lane) const -> lane;
    };
    static auto load(bitset_word const*) -> lane { return {}; }
    static void store(bitset_word*, lane) {}
    static auto zero() -> lane { return {}; }
    static auto bit(std::size_t) -> lane { return {}; }
    static auto any(lane) -> bool { return false; }
    static auto first(lane) -> std::size_t { return 0; }
};
struct with_int_first : papcoll::word_bitset {
    static auto first(lane) -> int { return 0; }
};
struct without_store : papcoll::word_bitset {
    static void store(bitset_word const*, lane) = delete;
    static void store(bitset_word*, lane) = delete;
};

} // namespace

TEST_CASE("the bitset concept takes a user's model and refuses near misses") {
    static_assert(papcoll::state_bitset<papcoll::word_bitset>);
    static_assert(papcoll::state_bitset<papcoll::simd_bitset<>>);
    static_assert(papcoll::state_bitset<pair_bitset>);
    static_assert(!papcoll::state_bitset<three_words>);
    static_assert(!papcoll::state_bitset<without_complement>);
    static_assert(!papcoll::state_bitset<with_int_first>);
    static_assert(!papcoll::state_bitset<without_store>);
    static_assert(!papcoll::state_bitset<bitset_word>);
    papcoll::problem const p{.ranks = 11, .root = 4, .blocks = 150};
    auto const expected = papcoll::clairvoyant_scheduler<papcoll::linear_search>{}.transfers(p);
    CHECK(papcoll::clairvoyant_scheduler<papcoll::segment_tree<pair_bitset>>{}.transfers(p) == expected);
    CHECK(papcoll::clairvoyant_scheduler<papcoll::sliced_counters<pair_bitset>>{}.transfers(p) == expected);
}

TEST_CASE("a matrix without rows is no error") {
    papcoll::bit_matrix<pair_bitset> const nothing(0, 7);
    CHECK(nothing.memory_bytes() == 0);
    CHECK(nothing.lanes() == 1);
}
