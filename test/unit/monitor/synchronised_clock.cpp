// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/monitor/harmonize.hpp>
#include <papcoll/monitor/synchronised_clock.hpp>
#include <papcoll/transport/threads.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../../support/wrong_clock.hpp"

using namespace std::chrono_literals;
using papcoll::synchronised_clock;
using papcoll::ticks;
using papcoll::threads::endpoint;
using test_support::wrong_clock;

TEST_CASE("before it is synchronised the clock is the local one, with an unknown error") {
    synchronised_clock const clock([] { return ticks(42s); });
    CHECK(clock.now() == 42s);
    CHECK(clock.to_local(7s) == 7s);
    CHECK(clock.error() > 1000h);
}

TEST_CASE("all ranks learn the time of rank 0, and how wrong they are at most") {
    for (int const ranks : {1, 2, 3, 5, 7, 8, 13, 16, 17})
        for (std::uint64_t const seed : {0u, 5u}) {
            CAPTURE(ranks);
            papcoll::threads::run(ranks, {.eager_limit = 0, .seed = seed}, [&](endpoint& self) {
                auto const local = wrong_clock::of_rank(self.rank());
                synchronised_clock clock(local);
                auto const root = wrong_clock::of_rank(0);
                for (int again = 0; again < 3; ++again) {
                    clock.synchronise(self);
                    // All clocks are made from one, so the truth is known: what rank 0's shows now.
                    auto const real = papcoll::steady_now();
                    auto const shown = clock.to_global(local.at(real));
                    auto const error = clock.track().at(local.at(real)).error();
                    auto const wrong = shown - root.at(real);
                    CHECK(std::max(wrong, -wrong) <= error + 2ns);
                    CHECK(error < 100ms);
                    CHECK(std::max(clock.to_local(shown) - local.at(real),
                                   local.at(real) - clock.to_local(shown)) <= 2ns);
                    std::this_thread::sleep_for(2ms);
                }
            });
        }
}

TEST_CASE("the drift is found from estimates that are some time apart") {
    papcoll::threads::run(4, [&](endpoint& self) {
        auto const local = wrong_clock{ticks(1s * self.rank()), 50e-6 * self.rank()};
        synchronised_clock clock(local);
        clock.synchronise(self, 50);
        std::this_thread::sleep_for(300ms);
        clock.synchronise(self, 50);
        // Rank 0's clock seen from a fast one is slow; one is 1 / (1 + d) of the other.
        auto const truth = 1 / (1 + 50e-6 * self.rank()) - 1;
        CHECK(std::abs(clock.track().drift() - truth) <= clock.track().drift_error() + 1e-9);
        auto const real = papcoll::steady_now() + 5s;
        auto const wrong = clock.to_global(local.at(real)) - real;
        CHECK(std::max(wrong, -wrong) <= clock.track().at(local.at(real)).error() + 2ns);
    });
}

TEST_CASE("ranks start together although their clocks differ by seconds") {
    for (int const ranks : {1, 2, 5, 8}) {
        std::vector<ticks> starts(static_cast<std::size_t>(ranks)), agreed = starts, late = starts,
                                                                    errors = starts;
        auto last_call = ticks::min();
        std::mutex mutex;
        papcoll::threads::run(ranks, [&](endpoint& self) {
            auto const rank = static_cast<std::size_t>(self.rank());
            synchronised_clock clock(wrong_clock::of_rank(self.rank()));
            clock.synchronise(self);
            std::this_thread::sleep_for(1ms * self.rank());
            {
                std::lock_guard const lock(mutex);
                last_call = std::max(last_call, papcoll::steady_now());
            }
            agreed[rank] = papcoll::agree_on_start(self, clock, 20ms);
            late[rank] = papcoll::wait_until(clock, agreed[rank]);
            starts[rank] = papcoll::steady_now();
            errors[rank] = clock.error();
            CHECK(late[rank] >= 0ns);
            CHECK(papcoll::harmonize(self, clock, 1ms) >= 0ns);
        });
        for (std::size_t r = 0; r < starts.size(); ++r) {
            CHECK(agreed[r] == agreed[0]);
            CHECK(starts[r] >= last_call);
            // Nobody starts before the agreed time of rank 0's clock, but for the error of its own.
            auto const start = wrong_clock::of_rank(0).at(starts[r]);
            CHECK(start >= agreed[r] - errors[r] - 2ns);
        }
    }
}

namespace {

/// Time that passes when somebody looks: 100 ns, or 50 µs for who looked last, too. So messages are fast and
/// pauses are short.
class counted_time {
public:
    auto look(int rank) -> ticks {
        std::lock_guard const lock(m_mutex);
        m_time += m_last == rank ? ticks(50us) : ticks(100ns);
        m_last = rank;
        return m_time;
    }

private:
    std::mutex m_mutex;
    ticks m_time{0};
    int m_last = -1;
};

} // namespace

TEST_CASE("one synchronisation over some time finds the drift") {
    counted_time time;
    auto const gains = [](int rank, ticks real) {
        return real + 1s * rank + ticks{std::llround(rank * 50e-6 * static_cast<double>(real.count()))};
    };
    papcoll::threads::run(2, [&](endpoint& self) {
        auto const local = [&time, &gains, rank = self.rank()] { return gains(rank, time.look(rank)); };
        synchronised_clock blind(local), clock(local);
        blind.synchronise(self, 5);
        clock.synchronise(self, 5, 500ms);
        if (self.rank() == 0) return;
        CHECK(blind.track().drift_error() > 199e-6);
        CHECK(clock.track().drift_error() < 5e-6);
        CHECK(std::abs(clock.track().drift() - (1 / (1 + 50e-6) - 1)) <= clock.track().drift_error());
        auto const later = time.look(1) + 10s;
        auto const wrong = clock.to_global(gains(1, later)) - later;
        CHECK(std::max(wrong, -wrong) <= clock.track().at(gains(1, later)).error() + 2ns);
        CHECK(std::max(wrong, -wrong) < 50us);
    });
}

TEST_CASE("the drift is known through all partners on the way to rank 0") {
    for (int const ranks : {3, 5, 8})
        papcoll::threads::run(ranks, [&](endpoint& self) {
            auto const local = wrong_clock{ticks(1s * self.rank()), 20e-6 * self.rank()};
            synchronised_clock clock(local);
            clock.synchronise(self, 3, 10ms);
            auto const truth = 1 / (1 + 20e-6 * self.rank()) - 1;
            CHECK(std::abs(clock.track().drift() - truth) <= clock.track().drift_error() + 1e-9);
            auto const real = papcoll::steady_now() + 10s;
            auto const wrong = clock.to_global(local.at(real)) - real;
            CHECK(std::max(wrong, -wrong) <= clock.track().at(local.at(real)).error() + 2ns);
        });
}

TEST_CASE("lines through bounds have the drifts that they can have") {
    using papcoll::detail::offset_sample;
    auto const at = [](ticks time, ticks least, ticks most) { return offset_sample{time, {least, most}}; };
    std::vector const samples{at(0s, -1us, 1us), at(1s, 9us, 11us), at(2s, 15us, 30us)};
    auto const [least, most] = papcoll::detail::drift_through(samples);
    CHECK(least == doctest::Approx(8e-6)); // from 1 to 9 in the first second
    CHECK(most == doctest::Approx(12e-6)); // from −1 to 11
    std::vector const bent{at(0s, 0us, 1us), at(1s, 9us, 10us), at(2s, 0us, 1us)};
    CHECK(papcoll::detail::drift_through(bent).first > papcoll::detail::drift_through(bent).second);
}

TEST_CASE("no pings and a negative span are refused") {
    papcoll::threads::run(1, [](endpoint& self) {
        synchronised_clock clock;
        CHECK_THROWS_AS(clock.synchronise(self, 0), std::invalid_argument);
        CHECK_THROWS_AS(clock.synchronise(self, 20, -1ns), std::invalid_argument);
    });
}
