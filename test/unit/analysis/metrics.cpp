// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/analysis/metrics.hpp>

#include <doctest/doctest.h>

#include <array>
#include <vector>

using namespace papcoll;

namespace {
constexpr std::array<ticks, 3> arrivals{ticks{100}, ticks{-50}, ticks{400}};
constexpr std::array<ticks, 3> exits{ticks{450}, ticks{0}, ticks{520}};
} // namespace

TEST_CASE("imbalance and its factor") {
    CHECK(imbalance(arrivals) == ticks{450});
    CHECK(imbalance_factor(arrivals, ticks{300}) == doctest::Approx(1.5));
    CHECK(imbalance(std::array{ticks{7}}) == ticks{0});
    CHECK_THROWS_WITH_AS((void)imbalance_factor(arrivals, ticks{0}), doctest::Contains("transfer_time"),
                         std::invalid_argument);
}

TEST_CASE("run time, last delay and mean elapsed time") {
    CHECK(run_time(arrivals, exits) == ticks{570});
    CHECK(total_delay(arrivals, exits) == ticks{570});
    CHECK(last_delay(arrivals, exits) == ticks{120});
    CHECK(mean_elapsed(arrivals, exits) == ticks{(350 + 50 + 120) / 3});
    CHECK(elapsed(arrivals, exits) == std::vector{ticks{350}, ticks{50}, ticks{120}});
    CHECK(delay_over_bound(arrivals, exits, ticks{80}) == doctest::Approx(1.5));
    CHECK_THROWS_WITH_AS((void)delay_over_bound(arrivals, exits, ticks{0}), doctest::Contains("bound"),
                         std::invalid_argument);
}

TEST_CASE("absorption is the work done before the last arrival") {
    std::array<ticks, 3> const together{ticks{9}, ticks{9}, ticks{9}};
    std::array<ticks, 3> const left{ticks{59}, ticks{209}, ticks{9}};
    auto const balanced = run_time(together, left);
    CHECK(balanced == ticks{200});
    CHECK(absorption(together, left, balanced) == ticks{0});
    CHECK(absorption(arrivals, exits, balanced) == ticks{80});
    CHECK(absorption(arrivals, exits, balanced) == last_delay(together, left) - last_delay(arrivals, exits));
    CHECK(absorption(arrivals, exits, ticks{100}) == ticks{-20});
}

TEST_CASE("robustness") {
    CHECK(robustness(arrivals, exits, ticks{120}) == doctest::Approx(0.0));
    CHECK(robustness(arrivals, exits, ticks{160}) == doctest::Approx(-0.25));
    CHECK_THROWS_WITH_AS((void)robustness(arrivals, exits, ticks{0}),
                         doctest::Contains("balanced_last_delay"), std::invalid_argument);
}

TEST_CASE("no ranks, or arrivals that do not fit exits") {
    std::vector<ticks> const none;
    CHECK_THROWS_WITH_AS((void)imbalance(none), doctest::Contains("empty"), std::invalid_argument);
    CHECK_THROWS_WITH_AS((void)run_time(none, none), doctest::Contains("empty"), std::invalid_argument);
    CHECK_THROWS_WITH_AS((void)last_delay(arrivals, none), doctest::Contains("3 and 0"),
                         std::invalid_argument);
    CHECK_THROWS_AS((void)mean_elapsed(none, exits), std::invalid_argument);
    CHECK_THROWS_AS((void)elapsed(none, exits), std::invalid_argument);
    CHECK_THROWS_AS((void)total_delay(none, none), std::invalid_argument);
}
