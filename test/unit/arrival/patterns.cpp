// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/arrival/patterns.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace papcoll;
using times = std::vector<ticks>;

namespace {
auto of(std::vector<ticks::rep> const& values) -> times {
    times all;
    for (auto const value : values) all.emplace_back(value);
    return all;
}
} // namespace

TEST_CASE("the shapes of eight and of five ranks") {
    ticks const m{700};
    CHECK(arrival_pattern(arrival_shape::no_delay, 8, m) == times(8));
    CHECK(arrival_pattern(arrival_shape::ascending, 8, m) == of({0, 100, 200, 300, 400, 500, 600, 700}));
    CHECK(arrival_pattern(arrival_shape::descending, 8, m) == of({700, 600, 500, 400, 300, 200, 100, 0}));
    CHECK(arrival_pattern(arrival_shape::first_delayed, 5, m) == of({700, 0, 0, 0, 0}));
    CHECK(arrival_pattern(arrival_shape::last_delayed, 5, m) == of({0, 0, 0, 0, 700}));
    CHECK(arrival_pattern(arrival_shape::bell, 8, ticks{600}) == of({0, 200, 400, 600, 600, 400, 200, 0}));
    CHECK(arrival_pattern(arrival_shape::bell, 5, ticks{600}) == of({0, 300, 600, 300, 0}));
    CHECK(arrival_pattern(arrival_shape::valley, 5, ticks{600}) == of({600, 300, 0, 300, 600}));
    CHECK(arrival_pattern(arrival_shape::valley, 3, ticks{600}) == of({600, 0, 600}));
    CHECK(arrival_pattern(arrival_shape::valley, 2, ticks{600}) == of({0, 0}));
    CHECK(arrival_pattern(arrival_shape::valley, 1, ticks{600}) == of({0}));
    CHECK(arrival_pattern(arrival_shape::half_delayed, 8, m) == of({0, 0, 0, 0, 700, 700, 700, 700}));
    CHECK(arrival_pattern(arrival_shape::half_delayed, 5, m) == of({0, 0, 0, 700, 700}));
}

TEST_CASE("every shape spans the magnitude as soon as there are three ranks") {
    for (auto const magnitude : {ticks{0}, ticks{1}, ticks{351'000'000}, ticks::max()})
        for (auto const shape : all_arrival_shapes())
            for (int const ranks : {1, 2, 3, 5, 7, 8, 13, 1000}) {
                auto const a = arrival_pattern(shape, ranks, magnitude);
                CAPTURE(to_string(shape));
                CAPTURE(ranks);
                REQUIRE(a.size() == static_cast<std::size_t>(ranks));
                auto const [first, last] = std::minmax_element(a.begin(), a.end());
                CHECK(*first >= ticks{0});
                CHECK(*last <= magnitude);
                if (ranks < 3 || shape == arrival_shape::no_delay || shape == arrival_shape::random) continue;
                CHECK(*first == ticks{0});
                CHECK(*last == magnitude);
            }
}

TEST_CASE("random depends on the seed alone and is spread evenly") {
    auto const a = arrival_pattern(arrival_shape::random, 4000, ticks{1'000'000}, 7);
    CHECK(a == arrival_pattern(arrival_shape::random, 4000, ticks{1'000'000}, 7));
    CHECK(a != arrival_pattern(arrival_shape::random, 4000, ticks{1'000'000}, 8));
    for (std::int64_t quarter = 0; quarter < 4; ++quarter) {
        auto const in_quarter = std::count_if(a.begin(), a.end(), [&](ticks t) {
            return t.count() >= quarter * 250'000 && t.count() < (quarter + 1) * 250'000;
        });
        CHECK(in_quarter > 850); // 1000 ± 5.5 standard deviations
        CHECK(in_quarter < 1150);
    }
    // Fixed values: files and results of one machine mean the same on another.
    CHECK(arrival_pattern(arrival_shape::random, 3, ticks{1'000'000}, 1) == of({566561, 745781, 971002}));
}

TEST_CASE("names there and back") {
    for (auto const shape : all_arrival_shapes()) CHECK(arrival_shape_of(to_string(shape)) == shape);
    CHECK(to_string(arrival_shape::half_delayed) == "half_delayed");
    CHECK_FALSE(arrival_shape_of("").has_value());
    CHECK_FALSE(arrival_shape_of("Bell").has_value());
    CHECK(to_string(static_cast<arrival_shape>(77)) == "unknown");
    CHECK(all_arrival_shapes().front() == arrival_shape::no_delay);
}

TEST_CASE("bad arguments are named") {
    CHECK_THROWS_WITH_AS((void)arrival_pattern(arrival_shape::bell, 0, ticks{1}), doctest::Contains("ranks"),
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS((void)arrival_pattern(arrival_shape::bell, 3, ticks{-1}),
                         doctest::Contains("magnitude"), std::invalid_argument);
}
