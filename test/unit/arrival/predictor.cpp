// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/arrival/predictor.hpp>
#include <papcoll/arrival/predictors/first_known.hpp>
#include <papcoll/arrival/predictors/iteration_average.hpp>
#include <papcoll/arrival/predictors/linear_extrapolation.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <stdexcept>

namespace {

using papcoll::exponential_average;
using papcoll::last_value;
using papcoll::linear_extrapolation;
using papcoll::moving_average;
using papcoll::ticks;
using both = papcoll::first_known<linear_extrapolation, exponential_average>;

struct an_hour { // the minimal model of the concept's documentation
    std::optional<ticks> expected;
    void begin(ticks t) { expected = t + std::chrono::hours{1}; }
    void progress(ticks, double) {}
    void end(ticks t) {
        if (expected) expected = t;
    }
    [[nodiscard]] auto predict() const -> std::optional<ticks> { return expected; }
};
struct never_ends {
    void begin(ticks) {}
    void progress(ticks, double) {}
    [[nodiscard]] static auto predict() -> std::optional<ticks> { return std::nullopt; }
};
struct always_knows {
    void begin(ticks) {}
    void progress(ticks, double) {}
    void end(ticks) {}
    [[nodiscard]] static auto predict() -> ticks { return ticks{0}; }
};
struct sums {
    void add(ticks) {}
    [[nodiscard]] static auto value() -> double { return 0.0; }
};

static_assert(papcoll::arrival_predictor<an_hour>);
static_assert(papcoll::arrival_predictor<linear_extrapolation>);
static_assert(papcoll::arrival_predictor<last_value>);
static_assert(papcoll::arrival_predictor<moving_average>);
static_assert(papcoll::arrival_predictor<exponential_average>);
static_assert(papcoll::arrival_predictor<both>);
static_assert(!papcoll::arrival_predictor<never_ends>);
static_assert(!papcoll::arrival_predictor<always_knows>);
static_assert(!papcoll::duration_average<sums>);

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

auto at(std::int64_t t) -> ticks { return ticks{t}; }

template <class Predictor>
void iterate(Predictor& p, std::int64_t begin, std::int64_t duration) {
    p.begin(at(begin));
    p.end(at(begin + duration));
}

// The same series for every predictor: iteration i takes duration(i), a report at 1/2 comes when
// half(i) has passed. Mean of |predicted − true| ÷ true, without the first `warm_up` iterations.
template <class Predictor, class Duration, class Half>
auto mean_error(Predictor p, Duration const& duration, Half const& half, int iterations, int warm_up)
    -> double {
    std::int64_t now = -1'000'000;
    double sum = 0;
    for (int i = 0; i < iterations; ++i) {
        auto const takes = static_cast<std::int64_t>(duration(i));
        p.begin(at(now));
        p.progress(at(now + static_cast<std::int64_t>(half(i))), 0.5);
        auto const predicted = p.predict();
        if (i >= warm_up) {
            REQUIRE(predicted);
            sum += std::abs(static_cast<double>((*predicted - at(now + takes)).count())) /
                   static_cast<double>(takes);
        }
        now += takes;
        p.end(at(now));
        REQUIRE(p.predict() == at(now));
        now += 12345;
    }
    return sum / (iterations - warm_up);
}
template <class Predictor, class Duration>
auto mean_error(Predictor const& p, Duration const& duration, int iterations, int warm_up) -> double {
    return mean_error(
        p, duration, [&](int i) { return duration(i) / 2; }, iterations, warm_up);
}

} // namespace

TEST_CASE_TEMPLATE("all predictors: nothing known, ends, and observations that cannot be", Predictor,
                   linear_extrapolation, last_value, moving_average, exponential_average, both) {
    Predictor p;
    CHECK(p.predict() == std::nullopt);
    p.progress(at(5), 0.5);
    p.end(at(7));
    CHECK(p.predict() == std::nullopt);
    p.begin(at(100));
    CHECK(p.predict() == std::nullopt);
    for (double const fraction : {not_a_number, infinity, -infinity, -0.5, 0.0, 1.0000001})
        p.progress(at(120), fraction);
    p.progress(at(99), 0.5); // before it began
    p.progress(ticks::min(), 0.5);
    p.progress(ticks::max(), 0.5);
    CHECK(p.predict() == std::nullopt);
    p.end(at(99));
    p.end(ticks::max());
    CHECK(p.predict() == std::nullopt);
    p.end(at(150));
    CHECK(p.predict() == at(150));
    p.end(at(170)); // it has ended
    p.progress(at(180), 0.9);
    CHECK(p.predict() == at(150));
    // One that never ended leaves no trace.
    p.begin(at(200));
    p.progress(at(1'000'000), 0.9);
    p.begin(at(2'000'000));
    if constexpr (std::same_as<Predictor, linear_extrapolation>)
        CHECK(p.predict() == std::nullopt);
    else
        CHECK(p.predict() == at(2'000'050));
    p.begin(ticks::max());
    CHECK(p.predict() == std::nullopt);
}

TEST_CASE_TEMPLATE("all predictors: a constant duration is predicted exactly, never a time that has passed",
                   Predictor, linear_extrapolation, last_value, moving_average, exponential_average, both) {
    auto const constant = [](int) { return 1'000'000; };
    CHECK(mean_error(Predictor{}, constant, 20, 1) == 0.0);
    Predictor p;
    iterate(p, 0, 100);
    p.begin(at(1000));
    p.progress(at(1500), 1.0);
    CHECK(p.predict() == at(1500));
}

TEST_CASE("linear extrapolation follows the last sensible report") {
    linear_extrapolation p;
    p.begin(at(1000));
    p.progress(at(1100), 0.25);
    CHECK(p.predict() == at(1400));
    p.progress(at(1100), 0.25); // repeated
    CHECK(p.predict() == at(1400));
    p.progress(at(1300), 0.5);
    CHECK(p.predict() == at(1600));
    p.progress(at(1200), 0.75); // older
    CHECK(p.predict() == at(1600));
    p.progress(at(1400), 0.25); // less
    CHECK(p.predict() == at(1600));
    p.progress(at(1400), 0.5); // it stands still
    CHECK(p.predict() == at(1800));
    p.progress(at(1400), 1.0);
    CHECK(p.predict() == at(1400));
}

TEST_CASE("linear extrapolation at the ends of its range") {
    linear_extrapolation p;
    p.begin(at(-7));
    p.progress(at(-7), std::numeric_limits<double>::denorm_min()); // no time has passed
    CHECK(p.predict() == at(-7));
    p.progress(at(1), std::numeric_limits<double>::denorm_min());
    CHECK(p.predict() == at(-7) + papcoll::longest_computation);
    p.progress(at(2), 1e-30); // would overflow
    CHECK(p.predict() == at(-7) + papcoll::longest_computation);
    p.progress(at(3), 1.0 / 3);
    CHECK(p.predict() == at(23));
}

TEST_CASE("moving average: the mean of the window") {
    moving_average p(papcoll::moving_duration(3));
    auto const after = [&](std::int64_t duration) {
        iterate(p, 0, duration);
        p.begin(at(0));
        return p.predict();
    };
    CHECK(after(10) == at(10));
    CHECK(after(21) == at(15)); // 15.5
    CHECK(after(32) == at(21));
    CHECK(after(40) == at(31));
    CHECK(after(0) == at(24));
    // No overflow: durations near the longest.
    for (int i = 0; i < 3; ++i) (void)after(papcoll::longest_computation.count());
    CHECK(p.predict() == papcoll::longest_computation);
    CHECK_THROWS_AS(papcoll::moving_duration(0), std::invalid_argument);
}

TEST_CASE("exponential average: recent iterations count more") {
    exponential_average p(papcoll::exponential_duration(0.5));
    auto const after = [&](std::int64_t duration) {
        iterate(p, 0, duration);
        p.begin(at(0));
        return p.predict();
    };
    CHECK(after(100) == at(100));
    CHECK(after(200) == at(150));
    CHECK(after(50) == at(100));
    for (double const weight : {0.0, -1.0, 1.5, not_a_number})
        CHECK_THROWS_AS(papcoll::exponential_duration{weight}, std::invalid_argument);
}

TEST_CASE("last value: the iteration before") {
    last_value p;
    iterate(p, 0, 100);
    iterate(p, 500, 70);
    p.begin(at(1000));
    CHECK(p.predict() == at(1070));
}

TEST_CASE("reports first, iterations before until they come") {
    both p;
    iterate(p, 0, 100);
    p.begin(at(1000));
    CHECK(p.predict() == at(1100));
    p.progress(at(1080), 0.5);
    CHECK(p.predict() == at(1160));
    p.begin(at(2000));
    CHECK(p.predict() == at(2100));
}

TEST_CASE("noise: halves that vary independently by 5 %") {
    std::mt19937 random(7);
    std::normal_distribution<double> vary(500'000, 25'000);
    double first = 0, second = 0;
    auto const duration = [&](int) {
        first = vary(random);
        second = vary(random);
        return first + second;
    };
    auto const half = [&](int) { return first; };
    // Standard deviations: σ/√2 for (first − second)/2; mean error √(2/π) of it, 2.8 %.
    CHECK(mean_error(linear_extrapolation{}, duration, half, 4000, 0) <= 0.03);
    // One iteration varies by σ/√2, the last one, too: a difference of σ; averages tend to σ/√2.
    auto const of_last = mean_error(last_value{}, duration, half, 4000, 1);
    CHECK(of_last <= 0.043);
    auto const of_moving = mean_error(moving_average{}, duration, half, 4000, 8);
    CHECK(of_moving <= 0.031);
    auto const of_exponential = mean_error(exponential_average{}, duration, half, 4000, 20);
    CHECK(of_exponential <= 0.031);
    CHECK(of_moving < of_last);
    CHECK(of_exponential < of_last);
}

TEST_CASE("drift: how far behind each one is") {
    // 1 ms, 1 µs more in every iteration.
    auto const duration = [](int i) { return 1'000'000 + 1000 * i; };
    auto const behind = [&](auto const& p, int warm_up) {
        // The error relative to a duration between 1 and 1.2 ms, in iterations.
        return mean_error(p, duration, 200, warm_up) * 1000;
    };
    CHECK(behind(linear_extrapolation{}, 0) == doctest::Approx(0.0));
    CHECK(behind(last_value{}, 1) == doctest::Approx(1).epsilon(0.2));
    CHECK(behind(moving_average{papcoll::moving_duration(9)}, 9) == doctest::Approx(5).epsilon(0.2));
    CHECK(behind(exponential_average{papcoll::exponential_duration(0.2)}, 50) ==
          doctest::Approx(5).epsilon(0.2));
}

TEST_CASE("outliers: one iteration of ten times the duration") {
    auto const duration = [](int i) { return i == 50 ? 10'000'000 : 1'000'000; };
    auto const worst_after = [&](auto p, int later) {
        for (int i = 0; i <= 50 + later; ++i) iterate(p, 0, duration(i));
        p.begin(at(0));
        return static_cast<double>((*p.predict()).count()) / 1e6;
    };
    CHECK(worst_after(last_value{}, 0) == doctest::Approx(10));
    CHECK(worst_after(last_value{}, 1) == doctest::Approx(1));
    CHECK(worst_after(moving_average{}, 0) == doctest::Approx(1 + 9.0 / 8));
    CHECK(worst_after(moving_average{}, 7) == doctest::Approx(1 + 9.0 / 8));
    CHECK(worst_after(moving_average{}, 8) == doctest::Approx(1));
    CHECK(worst_after(exponential_average{}, 0) == doctest::Approx(1 + 9.0 / 4));
    CHECK(worst_after(exponential_average{}, 2) == doctest::Approx(1 + 9.0 / 4 * 0.75 * 0.75));
    // Extrapolation has no memory: only the iteration itself is hard to predict, and its report tells.
    CHECK(mean_error(linear_extrapolation{}, duration, 100, 0) == 0.0);
}
