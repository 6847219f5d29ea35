// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/monitor/offset_track.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <random>

using namespace std::chrono_literals;
using papcoll::offset_bounds;
using papcoll::offset_track;
using papcoll::ticks;

namespace {

/// A clock that is ahead by `offset` at local time 0 and gains `drift`.
struct true_offset {
    ticks offset;
    double drift;

    [[nodiscard]] auto at(ticks local) const -> ticks {
        return offset + ticks{std::llround(drift * static_cast<double>(local.count()))};
    }
};

auto contains(offset_bounds const& bounds, ticks truth) -> bool {
    // A nanosecond for the rounding of the truth itself.
    return bounds.least - 1ns <= truth && truth <= bounds.most + 1ns;
}

} // namespace

TEST_CASE("nothing is known at first, and nothing is unknown about one's own clock") {
    CHECK_FALSE(offset_track().known());
    CHECK(offset_track().at(5s).error() >= ticks(std::int64_t{1} << 61));
    auto const own = offset_track::identity();
    CHECK(own.known());
    for (auto const t : {ticks(-1h), ticks(0), ticks(1000h)}) {
        CHECK(own.at(t).least == 0ns);
        CHECK(own.at(t).most == 0ns);
    }
}

TEST_CASE("bounds are true at all times, whatever the offset and the drift") {
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> ppm(-150, 150), delay(5e3, 2e5);
    for (int instance = 0; instance < 300; ++instance) {
        true_offset const truth{
            ticks(static_cast<std::int64_t>(random() % 2'000'000'000'000) - 1'000'000'000'000),
            ppm(random) * 1e-6};
        offset_track track;
        ticks now(static_cast<std::int64_t>(random() % 1'000'000'000));
        for (int i = 0; i < 20; ++i) {
            auto const there = ticks(static_cast<std::int64_t>(delay(random)));
            auto const back = ticks(static_cast<std::int64_t>(delay(random)));
            track.observe(now, {truth.at(now) - there, truth.at(now) + back});
            for (auto const later : {ticks(0), ticks(1ms), ticks(1s), ticks(30s)})
                CHECK(contains(track.at(now + later), truth.at(now + later)));
            CHECK(std::abs(track.drift() - truth.drift) <= track.drift_error() + 1e-9);
            now += ticks(static_cast<std::int64_t>(random() % 20'000'000'000));
        }
        // Two seconds or more apart, bounds of 0.2 ms say more than the 200 ppm that were assumed.
        CHECK(track.drift_error() < 50e-6);
        CHECK(track.at(now).error() < 1ms);
    }
}

TEST_CASE("the error grows with age by what is not known of the drift") {
    offset_track track;
    track.observe(0s, {-10us, 10us});
    CHECK(track.at(0s).error() == 10us);
    CHECK(track.at(1s).error() == 210us);
    CHECK(track.at(-1s).error() == 210us);
    track.observe(10s, {500us - 10us, 500us + 10us});
    CHECK(track.drift() == doctest::Approx(50e-6));
    CHECK(track.drift_error() == doctest::Approx(2.2e-6));
    CHECK(track.at(11s).middle() >= 549us);
    CHECK(track.at(11s).middle() <= 551us);
    CHECK(track.at(11s).error() <= 13us);
}

TEST_CASE("a measurement that contradicts what was known replaces it") {
    offset_track track;
    track.observe(0s, {-1us, 1us});
    track.observe(1s, {-1us, 1us});
    track.observe(2s, {5s, 5s + 2us});
    CHECK(track.at(2s).least == 5s);
    CHECK(track.at(2s).most == 5s + 2us);
    CHECK(track.drift_error() == doctest::Approx(offset_track::max_drift));
}

TEST_CASE("a wide measurement does not spoil a narrow one") {
    offset_track track;
    track.observe(0s, {-10us, 10us});
    track.observe(1ms, {-5ms, 5ms});
    CHECK(track.at(1ms).error() <= 11us);
}

TEST_CASE("a drift that changes slowly is followed for hours") {
    offset_track track;
    double offset = 0, drift = 40e-6;
    for (int second = 0; second < 3 * 3600; second += 10) {
        auto const truth = ticks(std::llround(offset));
        track.observe(std::chrono::seconds(second), {truth - 30us, truth + 40us});
        CHECK(contains(track.at(std::chrono::seconds(second)), truth));
        CHECK(track.at(std::chrono::seconds(second)).error() <= 35us);
        drift += 0.02e-6 * std::sin(second / 500.0) * 10 / 60;
        offset += drift * 1e10;
    }
    CHECK(std::abs(track.drift() - drift) < 2e-6);
}

TEST_CASE("a drift that was measured narrows what is known, and one that contradicts it replaces it") {
    offset_track track;
    track.observe(ticks(1s), {-1us, 1us});
    track.observe_drift(10e-6, 12e-6);
    CHECK(track.drift() == doctest::Approx(11e-6));
    CHECK(track.drift_error() == doctest::Approx(1e-6 + offset_track::wander));
    CHECK(track.at(ticks(11s)).middle() == ticks(110us));
    track.observe_drift(11e-6, 20e-6);
    CHECK(track.least_drift() == doctest::Approx(11e-6 - offset_track::wander));
    CHECK(track.most_drift() == doctest::Approx(12e-6 + offset_track::wander));
    track.observe_drift(-50e-6, -40e-6);
    CHECK(track.drift() == doctest::Approx(-45e-6));
    track.observe_drift(1, 2);
    CHECK(track.most_drift() <= offset_track::max_drift);
}
