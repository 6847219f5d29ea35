// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <support/statistics.hpp>
#include <vector>

using bench::interval;

TEST_CASE("Medians of an even number are the lower ones, and quantiles are values") {
    CHECK(bench::median({3}) == 3);
    CHECK(bench::median({4, 1, 3, 2}) == 2);
    CHECK(bench::quantile({5, 1, 4, 2, 3}, 0) == 1);
    CHECK(bench::quantile({5, 1, 4, 2, 3}, 1) == 5);
    CHECK(bench::geometric_mean({2, 8}) == doctest::Approx(4));
}

TEST_CASE("Fewer than six values enclose nothing") {
    for (std::size_t n = 0; n < 6; ++n) CHECK(bench::enclosing_rank(n, 0.95) == 0);
    CHECK(bench::enclosing_rank(6, 0.95) == 1); // 2 / 2⁶ = 3.1 %
    CHECK(bench::median_interval({1, 2, 3, 4, 5}).relative_width() > 1e300);
}

TEST_CASE("The ranks are those of the binomial distribution") {
    CHECK(bench::enclosing_rank(9, 0.95) == 2);
    CHECK(bench::enclosing_rank(20, 0.95) == 6);
    CHECK(bench::enclosing_rank(50, 0.95) == 18);
    CHECK(bench::enclosing_rank(100, 0.95) == 40);
    // The normal distribution takes over without a jump.
    auto const exact = bench::enclosing_rank(1000, 0.95), normal = bench::enclosing_rank(1002, 0.95);
    CHECK(exact <= normal + 1);
    CHECK(normal <= exact + 2);
}

TEST_CASE("The interval holds the median about as often as it says, of a skewed distribution, too") {
    std::mt19937 random(1);
    std::lognormal_distribution<> skewed(0, 1); // its median is 1
    for (int const n : {6, 9, 30, 101}) {
        int held = 0;
        for (int trial = 0; trial < 1000; ++trial) {
            std::vector<double> values;
            for (int i = 0; i < n; ++i) values.push_back(skewed(random));
            auto const found = bench::median_interval(values);
            held += found.low <= 1 && 1 <= found.high ? 1 : 0;
        }
        CHECK(held >= 930);
    }
}

TEST_CASE("An interval of a ratio holds that of the medians") {
    std::mt19937 random(2);
    std::normal_distribution<> left(30, 3), right(10, 1);
    std::vector<double> a, b;
    for (int i = 0; i < 100; ++i) {
        a.push_back(left(random));
        b.push_back(right(random));
    }
    auto const found = bench::ratio_interval(a, b);
    CHECK(found.low < 3);
    CHECK(found.high > 3);
    CHECK(found.relative_width() < 0.1);
    CHECK(bench::ratio_interval(a, {10, 11}).low == 0);
    CHECK(std::isinf(bench::ratio_interval(a, {10, 11}).high));
}

TEST_CASE("What is told of a sample") {
    auto const s = bench::statistics_of({1, 2, 3, 4, 10});
    CHECK(s.n == 5);
    CHECK(s.median == 3);
    CHECK(s.min == 1);
    CHECK(s.max == 10);
    CHECK(s.mean == doctest::Approx(4));
    CHECK(s.deviation == doctest::Approx(std::sqrt(10.0)));
}
