// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/analysis/verify.hpp>

#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "../../support/sanitized.hpp"
#include "clairvoyant_cases.hpp"

namespace {

using clairvoyant_cases::instance;
using clairvoyant_cases::schedule;
using papcoll::segment_tree;
using papcoll::simd_bitset;
using papcoll::sliced_counters;
using papcoll::word_bitset;

void check_all_agree(instance const& i, std::vector<papcoll::transfer> const& expected) {
    CAPTURE(i.describe());
    auto const violation = papcoll::verify_reduction(expected, i.problem());
    CHECK_MESSAGE(!violation, violation.value_or(""));
    CHECK(schedule<segment_tree<word_bitset>>(i) == expected);
    CHECK(schedule<segment_tree<simd_bitset<>>>(i) == expected);
    CHECK(schedule<sliced_counters<word_bitset>>(i) == expected);
    CHECK(schedule<sliced_counters<simd_bitset<>>>(i) == expected);
}

} // namespace

TEST_CASE("the linear search gives what the oracle gives, and all searches agree") {
    std::mt19937_64 random(20201);
    for (int repetition = 0; repetition < test_support::at_most(3000, 300); ++repetition) {
        auto const i = clairvoyant_cases::random_instance(random, 20, 24);
        auto const expected = schedule<papcoll::linear_search>(i);
        CAPTURE(i.describe());
        CHECK(expected == clairvoyant_cases::oracle(i));
        check_all_agree(i, expected);
    }
}

TEST_CASE("rows and columns of several words and lanes") {
    std::mt19937_64 random(20202);
    for (auto const& [ranks, blocks] : {std::pair{2, 1025},
                                        {67, 63},
                                        {64, 64},
                                        {128, 65},
                                        {131, 129},
                                        {71, 511},
                                        {73, 512},
                                        {61, 513},
                                        {257, 1},
                                        {257, 40},
                                        {600, 3},
                                        {1031, 2}})
        for (int repetition = 0; repetition < test_support::at_most(3, 1); ++repetition) {
            if (test_support::sanitized && ranks * blocks > 17'000) continue;
            auto i = clairvoyant_cases::random_instance(random, 1, 1);
            i.ranks = ranks;
            i.blocks = blocks;
            i.root = static_cast<int>(random() % static_cast<unsigned>(ranks));
            auto const span =
                static_cast<unsigned>(i.round.count()) * static_cast<unsigned>(1 + ranks * repetition);
            i.arrivals.clear();
            for (int r = 0; r < ranks; ++r)
                i.arrivals.push_back(papcoll::ticks{static_cast<long>(random() % span)});
            check_all_agree(i, schedule<papcoll::linear_search>(i));
        }
}

TEST_CASE("the share of a rank is what concerns it of all transfers") {
    std::mt19937_64 random(20203);
    for (int repetition = 0; repetition < test_support::at_most(200, 30); ++repetition) {
        auto const i = clairvoyant_cases::random_instance(random, 20, 24);
        papcoll::clairvoyant_scheduler<> const scheduler{.round = i.round};
        auto const all = scheduler.transfers(i.problem());
        for (int rank = 0; rank < i.ranks; ++rank) {
            papcoll::rank_schedule expected;
            for (auto const& t : all) {
                if (t.from == rank) expected.sends.push_back({t.step, t.to, t.block});
                if (t.to == rank) expected.receives.push_back({t.step, t.from, t.block});
            }
            CHECK(scheduler.for_rank(i.problem(), rank) == expected);
        }
    }
}
