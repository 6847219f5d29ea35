// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/executor/message_driver.hpp>
#include <papcoll/executor/work_pace.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <thread>

namespace {

using papcoll::ticks;
using papcoll::detail::message_driver;
using papcoll::detail::work_pace;

/// Combines so many elements of which each takes `each`; the longest time without a look at messages.
auto longest_pause(work_pace& pace, std::size_t elements, std::size_t bytes, ticks each) -> ticks {
    ticks now{1'000'000}, last = now, longest{0};
    pace.begin(now);
    while (elements > 0) {
        auto const k = pace.next(elements, bytes);
        if (k == 0 || k > elements) return ticks::max();
        elements -= k;
        now += each * static_cast<ticks::rep>(k);
        longest = std::max(longest, now - last);
        if (!pace.ended(k, now)) continue;
        pace.begin(now);
        last = now;
    }
    return longest;
}

} // namespace

TEST_CASE("messages are seen to about every work_pace::most, however long an element takes") {
    for (std::size_t const bytes : {1U, 4U, 24U, 4096U})
        for (auto const each : {ticks{1}, ticks{100}, ticks{7'000}, ticks{90'000}}) {
            work_pace pace;
            (void)longest_pause(pace, 10'000, bytes, each); // learns
            CHECK(longest_pause(pace, 10'000, bytes, each) <= 2 * work_pace::most + each);
        }
}

TEST_CASE("a fast operator is not interrupted often, and pieces end where those of combine_alike do") {
    work_pace pace;
    std::size_t pieces = 0;
    ticks now{0};
    pace.begin(now);
    for (std::size_t left = 10'000'000; left > 0; ++pieces) {
        auto const k = pace.next(left, 4);
        if (k < left) REQUIRE(k % 256 == 0);
        left -= k;
        now += ticks{static_cast<ticks::rep>(k / 10 + 1)}; // a tenth of a nanosecond each
        (void)pace.ended(k, now);
    }
    CHECK(pieces < 60);
}

TEST_CASE("what takes long cannot be interrupted within an element") {
    work_pace pace;
    CHECK(pace.is_long(std::size_t(1) << 20)); // nothing is known
    CHECK_FALSE(pace.is_long(1024));
    CHECK(longest_pause(pace, 7, 1024, ticks{30'000'000}) >= ticks{30'000'000});
    CHECK(pace.is_long(1024));
    (void)longest_pause(pace, 1000, 1024, ticks{100});
    CHECK_FALSE(pace.is_long(1024));
}

TEST_CASE("the message driver looks while an operator runs, and not afterwards") {
    message_driver driver;
    std::atomic<int> looks{0};
    for (int round = 1; round <= 3; ++round) {
        looks = 0;
        driver.during([&] { ++looks; },
                      [&] {
                          while (looks < 3) std::this_thread::yield();
                      });
        int const then = looks;
        std::this_thread::sleep_for(10 * message_driver::pause);
        CHECK(looks == then);
    }
    CHECK_THROWS_AS(driver.during([&] { ++looks; }, [] { throw std::runtime_error("operator"); }),
                    std::runtime_error);
    int const then = looks;
    std::this_thread::sleep_for(10 * message_driver::pause);
    CHECK(looks == then);
}

TEST_CASE("one operator at a time has the driver, others run without it") {
    message_driver driver;
    std::atomic<int> outer{0};
    int inner = 0;
    driver.during([&] { ++outer; },
                  [&] {
                      driver.during([&] { ++inner; }, [] {});
                      int const seen = outer;
                      while (outer == seen) std::this_thread::yield(); // the first one still has it
                  });
    CHECK(inner == 0);
}
