// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/collective/impl/run_call.hpp>
#include <papcoll/monitor/arrival_monitor.hpp>
#include <papcoll/transport/threads.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "../../support/monitor_suite.hpp"
#include "../../support/open_monitored_suite.hpp"
#include "../../support/shared_endpoint.hpp"

// Both speak on one control channel.
static_assert(papcoll::detail::monitor_tag != papcoll::detail::clock_tag);
#include "../../support/wrong_clock.hpp"

using namespace std::chrono_literals;
using papcoll::monitor_options;
using papcoll::ticks;
using papcoll::threads::endpoint;
using monitor = papcoll::basic_arrival_monitor<endpoint>;

namespace {

enum class threading { all, none, mixed };

auto with_thread(threading t, int rank) -> bool {
    return t == threading::all || (t == threading::mixed && rank % 2 == 0);
}

/// Knows the duration of every computation beforehand, and takes no advice.
struct told {
    std::optional<ticks> duration, expected;

    void begin(ticks t) { expected = duration ? std::optional(t + *duration) : std::nullopt; }
    void progress(ticks, double) {}
    void end(ticks t) {
        if (expected) expected = t;
    }
    [[nodiscard]] auto predict() const -> std::optional<ticks> { return expected; }
};

/// Something that is seen to be freed.
struct living : told {
    std::shared_ptr<int> life;
};

using told_monitor = papcoll::basic_arrival_monitor<endpoint, told>;

/// Hides its arrivals in another policy, as composed policies do.
template <class Policy>
struct wrapped {
    static constexpr bool reorders_operands = Policy::reorders_operands;
    static constexpr auto provides(papcoll::collective_kind operation) -> bool {
        return Policy::provides(operation);
    }
    [[nodiscard]] auto name() const { return inner.name(); }
    void check(papcoll::call_shape const& shape) const { inner.check(shape); }
    [[nodiscard]] auto fingerprint() const { return inner.fingerprint(); }
    [[nodiscard]] auto plan(papcoll::call_shape const& shape, papcoll::link_model const& link) const {
        return inner.plan(shape, link);
    }

    Policy inner;
};

/// The same, and names them.
template <class Policy>
struct naming : wrapped<Policy> {
    [[nodiscard]] auto pending_arrivals() const -> papcoll::arrival_source { return this->inner.arrivals; }
};

/// Says that there are no arrivals, as soon as it is told to.
class told_later final : public papcoll::detail::arrival_answer {
public:
    explicit told_later(std::atomic<bool> const& told)
        : m_told(told) {}
    [[nodiscard]] auto ranks() const -> std::size_t override { return 2; }
    [[nodiscard]] auto is_known() const -> bool override { return m_told; }
    [[nodiscard]] auto times() -> std::optional<std::span<ticks const>> override { return std::nullopt; }
    [[nodiscard]] auto known_times() const -> std::optional<std::span<ticks const>> override {
        return std::nullopt;
    }

private:
    std::atomic<bool> const& m_told;
};

/// A clock that stands until it is set; each rank's shows something else.
class standing_clock {
public:
    void set(ticks t) { m_now = t.count(); }
    [[nodiscard]] auto of_rank(int rank) -> papcoll::local_clock {
        return [this, rank] { return ticks{m_now} + 10s * rank; };
    }

private:
    std::atomic<std::int64_t> m_now = 0;
};

template <class F>
void says_what_to_do(F const& f) {
    std::string complaint;
    try {
        f();
    } catch (std::logic_error const& e) {
        complaint = e.what();
    }
    CAPTURE(complaint);
    CHECK(complaint.find("pending_arrivals()") != std::string::npos);
}

/// Whether the count comes to this; with an end, so that what fails does not hang.
auto comes(std::atomic<int> const& count, int wanted) -> bool {
    auto const end = std::chrono::steady_clock::now() + 20s;
    while (count < wanted && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    return count >= wanted;
}

} // namespace

TEST_CASE("whatever ranks report, all take the same arrivals at the same time") {
    for (int const ranks : {1, 2, 3, 5, 8})
        for (auto const threads : {threading::all, threading::none, threading::mixed})
            for (std::uint64_t const seed : {0u, 7u}) {
                CAPTURE(ranks);
                CAPTURE(static_cast<int>(threads));
                std::vector<monitor_suite::takes> taken(static_cast<std::size_t>(ranks));
                papcoll::threads::run(ranks, {.eager_limit = 64, .seed = seed}, [&](endpoint& self) {
                    int const rank = self.rank();
                    monitor m(self, {.thread = with_thread(threads, rank),
                                     .poll = 200us,
                                     .clock = test_support::wrong_clock::of_rank(rank)});
                    taken[static_cast<std::size_t>(rank)] =
                        monitor_suite::run_oddly(self, m, rank, ranks, 12, seed + 3);
                });
                for (auto const& t : taken) CHECK(t == taken[0]);
                // In so many iterations somebody knew something.
                CHECK(
                    std::any_of(taken[0].begin(), taken[0].end(), [](auto const& t) { return !t.empty(); }));
            }
}

TEST_CASE("in ordinary iterations the first collective has arrivals and the second none") {
    for (int const ranks : {1, 2, 5, 8})
        for (auto const threads : {threading::all, threading::none, threading::mixed}) {
            std::vector<monitor_suite::takes> taken(static_cast<std::size_t>(ranks));
            papcoll::threads::run(ranks, [&](endpoint& self) {
                int const rank = self.rank();
                monitor m(self, {.thread = with_thread(threads, rank)});
                CHECK(m.has_thread() == (ranks > 1 && with_thread(threads, rank)));
                taken[static_cast<std::size_t>(rank)] = monitor_suite::run_orderly(self, m, rank, ranks, 8);
            });
            for (auto const& t : taken) CHECK(t == taken[0]);
        }
}

TEST_CASE("predictions arrive in the time of rank 0, whatever the clocks show") {
    constexpr int ranks = 5;
    standing_clock clock;
    clock.set(100s);
    std::vector<std::vector<ticks>> got(ranks);
    papcoll::threads::run(ranks, [&](endpoint& self) {
        int const rank = self.rank();
        told_monitor m(self, {.thread = rank % 2 == 0, .clock = clock.of_rank(rank)},
                       told{.duration = 1s * (rank + 1), .expected = {}});
        m.computation_begin();
        m.progress(0.5); // enough for the prediction, though no time has passed
        auto const arrivals = m.arrivals();
        got[static_cast<std::size_t>(rank)].assign(arrivals.times().begin(), arrivals.times().end());
        CHECK(m.clock().error() <= 2ns);
    });
    for (auto const& g : got) {
        REQUIRE(g.size() == ranks);
        CHECK(g == got[0]);
    }
    for (int r = 0; r < ranks; ++r) {
        // Without a thread the report gives it away; with one it may be the end, which came at once.
        auto const entry = got[0][static_cast<std::size_t>(r)];
        bool const predicted = std::chrono::abs(entry - (101s + 1s * r)) <= 2ns;
        bool const ended = std::chrono::abs(entry - 100s) <= 2ns;
        CHECK((predicted || (r % 2 == 0 && ended)));
    }
}

TEST_CASE("a prediction is given when its share of the time is over, or by a report, or at the end") {
    papcoll::threads::run(1, [](endpoint& self) {
        standing_clock clock;
        told_monitor m(self, {.share_at = 0.5, .clock = clock.of_rank(0)},
                       told{.duration = 10s, .expected = {}});
        auto const seconds_at = [&](auto... reports) {
            clock.set(0s);
            m.computation_begin();
            (reports(), ...);
            clock.set(8s);
            m.computation_end();
            clock.set(9s);
            return m.arrivals().times()[0];
        };
        auto const report = [&](ticks when, double fraction) {
            return [&, when, fraction] {
                clock.set(when);
                m.progress(fraction);
            };
        };
        CHECK(seconds_at() == 8s);                                  // the true end
        CHECK(seconds_at(report(4s, 0.4)) == 8s);                   // too early on both counts
        CHECK(seconds_at(report(4s, 0.5)) == 10s);                  // reported
        CHECK(seconds_at(report(5s, 0.1)) == 10s);                  // half of the time
        CHECK(seconds_at(report(1s, 0.4), report(6s, 0.0)) == 10s); // the same
        CHECK(seconds_at(report(4s, std::nan(""))) == 8s);
        CHECK(seconds_at(report(4s, 1.5)) == 8s);
    });
}

TEST_CASE("a rank of which nothing is known comes with the last, and nothing known at all gives nothing") {
    constexpr int ranks = 4;
    for (bool const thread : {true, false}) {
        standing_clock clock;
        std::vector<std::vector<ticks>> got(ranks);
        papcoll::threads::run(ranks, [&](endpoint& self) {
            int const rank = self.rank();
            std::optional<ticks> const duration =
                rank == 2 ? std::nullopt : std::optional<ticks>(1s * (10 - rank));
            told_monitor m(self, {.thread = thread, .clock = clock.of_rank(rank)},
                           told{.duration = duration, .expected = {}});
            CHECK_FALSE(m.arrivals().given());
            if (rank != 2) m.computation_begin();
            // Those who know something must give it before rank 2 makes them hurry.
            m.progress(1.0);
            if (thread) std::this_thread::sleep_for(20ms);
            std::int64_t sum = 0;
            papcoll::all_reduce(self, std::int64_t{1}, sum, std::plus<>{}, papcoll::circulant{});
            if (rank == 2) m.computation_begin();
            auto const arrivals = m.arrivals();
            got[static_cast<std::size_t>(rank)].assign(arrivals.times().begin(), arrivals.times().end());
        });
        for (auto const& g : got) CHECK(g == got[0]);
        REQUIRE(got[0].size() == ranks);
        CHECK(std::chrono::abs(got[0][0] - 10s) <= 2ns);
        CHECK(std::chrono::abs(got[0][1] - 9s) <= 2ns);
        CHECK(got[0][2] == got[0][0]);
        CHECK(std::chrono::abs(got[0][3] - 7s) <= 2ns);
    }
}

TEST_CASE("nobody with a thread is waited for while it computes") {
    std::atomic<int> done = 0;
    papcoll::threads::run(3, [&](endpoint& self) {
        monitor m(self);
        m.computation_begin();
        // Nothing is known about rank 1, which computes until the others have their answers.
        auto const begin = papcoll::steady_now();
        while (self.rank() == 1 && done < 2 && papcoll::steady_now() - begin < 20s)
            std::this_thread::sleep_for(1ms);
        if (self.rank() == 1) CHECK(done == 2);
        CHECK(m.arrivals().given());
        ++done;
    });
}

TEST_CASE("ranks that are an iteration ahead learn what a late one predicts of its next computation") {
    constexpr int ranks = 4;
    standing_clock clock;
    std::atomic<int> ahead = 0;
    std::vector<std::vector<ticks>> got(ranks);
    papcoll::threads::run(ranks, [&](endpoint& self) {
        int const rank = self.rank();
        told_monitor m(self, {.clock = clock.of_rank(rank)},
                       told{.duration = 1s + 1s * rank, .expected = {}});
        m.computation_begin();
        m.progress(1.0);
        if (rank == ranks - 1) {
            // Its prediction has gone out; it computes on while the others come back for the next one.
            auto const begin = papcoll::steady_now();
            while (ahead < ranks - 1 && papcoll::steady_now() - begin < 20s) std::this_thread::sleep_for(1ms);
            std::this_thread::sleep_for(20ms);
            clock.set(100s);
        }
        CHECK(m.arrivals().given());
        ++ahead;
        m.computation_begin();
        auto const arrivals = m.arrivals();
        got[static_cast<std::size_t>(rank)].assign(arrivals.times().begin(), arrivals.times().end());
    });
    for (auto const& g : got) CHECK(g == got[0]);
    REQUIRE(got[0].size() == ranks);
    // It began again at 100 s, and was at its end at once.
    CHECK(got[0][ranks - 1] >= 100s - 2ns);
    CHECK(got[0][0] < 50s);
}

TEST_CASE("what was predicted of one collective is not told of the next") {
    constexpr int ranks = 3;
    for (bool const thread : {true, false}) {
        standing_clock clock;
        std::atomic<bool> taken = false;
        std::vector<std::vector<ticks>> got(ranks);
        papcoll::threads::run(ranks, [&](endpoint& self) {
            int const rank = self.rank();
            told_monitor m(self, {.thread = thread, .clock = clock.of_rank(rank)},
                           told{.duration = 1s, .expected = {}});
            // The last rank reports nothing and is the first to take; so the round is about the next one.
            while (rank != ranks - 1 && !taken) std::this_thread::yield();
            if (rank != ranks - 1) m.computation_begin();
            CHECK_FALSE(m.arrivals().given());
            taken = true;
            std::int64_t sum = 0;
            papcoll::all_reduce(self, std::int64_t{1}, sum, std::plus<>{}, papcoll::circulant{});
            clock.set(100s);
            m.computation_begin();
            auto const arrivals = m.arrivals();
            got[static_cast<std::size_t>(rank)].assign(arrivals.times().begin(), arrivals.times().end());
        });
        for (auto const& g : got) {
            CHECK(g == got[0]);
            for (auto const time : g) CHECK(time >= 100s - 2ns);
        }
    }
}

TEST_CASE("a class can have a monitor as a member") {
    struct watched {
        monitor member;
        explicit watched(endpoint& self)
            : member(self) {}
    };
    static_assert(std::is_constructible_v<watched, endpoint&>);
    static_assert(!std::is_copy_constructible_v<watched>);
    papcoll::threads::run(2, [](endpoint& self) {
        auto const made = std::make_unique<watched>(self);
        CHECK_FALSE(made->member.arrivals().given());
    });
}

TEST_CASE("a rank may leave at any time, and those who stay go on together") {
    struct failure : std::runtime_error {
        using runtime_error::runtime_error;
    };
    for (int const ranks : {2, 3, 5, 8})
        for (int const leaver : {0, 1, ranks - 1})
            for (auto const threads : {threading::all, threading::none, threading::mixed}) {
                CAPTURE(ranks);
                CAPTURE(leaver);
                std::vector<monitor_suite::takes> taken(static_cast<std::size_t>(ranks));
                papcoll::threads::run(ranks, [&](endpoint& self) {
                    int const rank = self.rank();
                    auto& mine = taken[static_cast<std::size_t>(rank)];
                    std::mt19937_64 random(static_cast<std::uint64_t>(rank));
                    try {
                        monitor m(self, {.thread = with_thread(threads, rank), .poll = 100us});
                        for (int epoch = 0; epoch < 20; ++epoch) {
                            m.computation_begin();
                            std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
                            if (rank == leaver && epoch == 9) throw failure("a rank fails");
                            m.progress(0.5);
                            monitor_suite::add(mine, m.arrivals());
                        }
                        // All others have heard of it at last.
                        while (!m.is_closed()) monitor_suite::add(mine, m.arrivals());
                        CHECK_FALSE(m.arrivals().given());
                    } catch (failure const&) {
                        CHECK(rank == leaver);
                    }
                });
                // As far as both came: those who got something got the same.
                for (auto const& t : taken)
                    for (std::size_t i = 0; i < std::min<std::size_t>(9, t.size()); ++i)
                        CHECK(t[i] == taken[static_cast<std::size_t>(leaver)][i]);
                auto const& other = taken[static_cast<std::size_t>(leaver == 0 ? 1 : 0)];
                for (int r = 0; r < ranks; ++r)
                    for (std::size_t i = 0; i < 20 && r != leaver; ++i)
                        CHECK(taken[static_cast<std::size_t>(r)][i] == other[i]);
                CHECK(std::all_of(other.begin() + 10, other.end(), [](auto const& t) { return t.empty(); }));
            }
}

TEST_CASE("a rank whose predictor throws hears of it, and the others do not wait for it when it has left") {
    struct failing : told {
        bool fails = false;
        [[nodiscard]] auto predict() const -> std::optional<ticks> {
            if (fails) throw std::domain_error("nothing can be said");
            return told::predict();
        }
    };
    for (auto const threads : {threading::all, threading::none, threading::mixed})
        papcoll::threads::run(3, [&](endpoint& self) {
            bool const fails = self.rank() == 1;
            papcoll::basic_arrival_monitor<endpoint, failing> m(
                self, {.thread = with_thread(threads, self.rank()), .poll = 100us}, {{}, fails});
            m.computation_begin();
            m.progress(0.5);
            if (fails)
                CHECK_THROWS_AS((void)m.arrivals(), std::domain_error);
            else
                while (!m.is_closed()) (void)m.arrivals();
        });
}

TEST_CASE("a thread that sleeps for long is woken when its monitor ends") {
    papcoll::threads::run(2, [](endpoint& self) {
        monitor const m(self, {.poll = 1h});
        CHECK(m.has_thread());
        std::this_thread::sleep_for(20ms); // so that it has begun
    });
}

TEST_CASE("questions that nobody reads do not pile up where only some ranks report") {
    using state = papcoll::detail::monitor_state<endpoint, papcoll::last_value>;
    for (bool const thread : {false, true})
        papcoll::threads::run(2, [&](endpoint& self) {
            auto const m = std::make_shared<state>(
                endpoint(self), monitor_options{.thread = thread, .poll = 100us}, papcoll::last_value{});
            m->start(m);
            std::weak_ptr<papcoll::detail::asked_take> last;
            for (int i = 0; i < 20; ++i) {
                if (self.rank() == 0) {
                    m->begin();
                    m->progress(0.9);
                    m->end();
                }
                auto const take = m->ask();
                m->forget(*take);
                last = take;
            }
            auto const begin = papcoll::steady_now();
            while (!last.expired() && papcoll::steady_now() - begin < 20s) m->look();
            CHECK(last.expired());
            int all = 0; // the other has seen it, too
            papcoll::all_reduce(self, 1, all, std::plus<>{}, papcoll::circulant{});
            papcoll::detail::let_go(m);
        });
}

TEST_CASE("monitors that nobody used end, and one can follow another") {
    for (int const ranks : {1, 2, 7})
        papcoll::threads::run(ranks, {.seed = 1}, [&](endpoint& self) {
            for (int i = 0; i < 5; ++i) {
                monitor m(self, {.thread = i % 2 == 0, .pings = 1});
                std::int64_t sum = 0;
                papcoll::all_reduce(self, std::int64_t{1}, sum, std::plus<>{}, papcoll::circulant{});
            }
        });
}

TEST_CASE("a failure of the transport comes out of arrivals()") {
    std::atomic<int> thrown = 0, made = 0;
    // A monitor that goes with its rank says farewell; whoever has heard of it gets nothing from then on,
    // without another message, and does not see the transport fail. So these stay until all ranks have ended.
    std::array<std::optional<monitor>, 3> monitors;
    auto const body = [&](endpoint& self) {
        auto& m = monitors[static_cast<std::size_t>(self.rank())].emplace(self);
        m.computation_begin();
        for (++made; made < 3;) std::this_thread::yield();
        if (self.rank() == 1) throw std::domain_error("rank 1 fails");
        try {
            auto const begin = papcoll::steady_now();
            while (papcoll::steady_now() - begin < 20s) (void)m.arrivals();
        } catch (papcoll::threads::aborted const&) {
            ++thrown;
            throw;
        }
    };
    CHECK_THROWS_AS(papcoll::threads::run(3, body), std::domain_error);
    CHECK(thrown == 2);
}

TEST_CASE("the exchanges keep the clocks together") {
    papcoll::threads::run(3, [](endpoint& self) {
        int const rank = self.rank();
        test_support::wrong_clock const local{1s * rank, 50e-6 * rank};
        monitor m(self, {.poll = 100us, .clock = local});
        auto const at_first = m.clock();
        std::this_thread::sleep_for(1500ms);
        (void)monitor_suite::run_orderly(self, m, rank, 3, 12);
        auto const clock = m.clock();
        auto const real = papcoll::steady_now();
        auto const wrong = std::chrono::abs(clock.to_global(local.at(real)) - real);
        auto const error = clock.track().at(local.at(real)).error();
        CHECK(wrong <= error + 2ns);
        if (rank != 0) {
            CHECK(clock.track().drift_error() < at_first.track().drift_error());
            CHECK(clock.track().at(local.at(real) + 60s).error() <
                  at_first.track().at(local.at(real) + 60s).error());
        }
        m.synchronise();
        auto const better = m.clock();
        auto const later = better.local_now(); // both errors grow until then
        CHECK(better.track().at(later).error() <= clock.track().at(later).error() + 2ns);
    });
}

TEST_CASE("options that cannot be are refused, by name") {
    papcoll::threads::run(1, [](endpoint& self) {
        auto const refused = [&](monitor_options const& options, char const* name) {
            try {
                monitor const m(self, options);
                FAIL("accepted");
            } catch (std::invalid_argument const& e) {
                CHECK(std::string(e.what()).find(name) != std::string::npos);
            }
        };
        refused({.share_at = -0.1}, "share_at");
        refused({.share_at = std::nan("")}, "share_at");
        refused({.patience = -1ns}, "patience");
        refused({.poll = 0ns}, "poll");
        refused({.poll = 1h + 1ns}, "poll");
        refused({.pings = 0}, "pings");
        refused({.clock = nullptr}, "clock");
    });
}

TEST_CASE("split-phase collectives find their arrivals in the background, whatever ranks report") {
    for (int const ranks : {1, 2, 3, 5, 8})
        for (auto const threads : {threading::all, threading::none, threading::mixed}) {
            CAPTURE(ranks);
            CAPTURE(static_cast<int>(threads));
            std::vector<monitor_suite::takes> taken(static_cast<std::size_t>(ranks));
            papcoll::threads::run(ranks, {.eager_limit = 1000, .seed = 3}, [&](endpoint& self) {
                int const rank = self.rank();
                monitor m(self, {.thread = with_thread(threads, rank),
                                 .patience = rank % 3 == 1 ? ticks{300us} : ticks{0},
                                 .poll = 200us,
                                 .clock = test_support::wrong_clock::of_rank(rank)});
                taken[static_cast<std::size_t>(rank)] =
                    open_monitored_suite::run_oddly(self, m, rank, ranks, 14, 5);
            });
            for (auto const& t : taken) CHECK(t == taken[0]);
            CHECK(std::any_of(taken[0].begin(), taken[0].end(), [](auto const& t) { return !t.empty(); }));
        }
}

TEST_CASE("of an iteration's split-phase collectives the first is told arrivals and the second none") {
    for (int const ranks : {1, 2, 5})
        for (auto const threads : {threading::all, threading::none, threading::mixed}) {
            std::vector<monitor_suite::takes> taken(static_cast<std::size_t>(ranks));
            papcoll::threads::run(ranks, [&](endpoint& self) {
                int const rank = self.rank();
                // So patient that each rank's own report counts.
                monitor m(self, {.thread = with_thread(threads, rank), .patience = 20s});
                taken[static_cast<std::size_t>(rank)] =
                    open_monitored_suite::run_orderly(self, m, rank, ranks, 6);
            });
            for (auto const& t : taken) CHECK(t == taken[0]);
        }
}

TEST_CASE(
    "with agreed checks the ranks agree when arrivals are known, and a new attachment changes nothing") {
    papcoll::threads::run(3, [](endpoint& self) {
        papcoll::attach(self, {.checks = papcoll::check_level::agreed});
        monitor m(self);
        (void)open_monitored_suite::run_orderly(self, m, self.rank(), 3, 3);
        open_suite::elements const e{3, 20'000, 1};
        auto out = e.nothing();
        auto const part = e.part(self.rank());
        auto open =
            papcoll::open_all_gather(self, out.data(), e.n, papcoll::background_circulant{.arrivals = m});
        papcoll::attach(self, {.link = papcoll::link_model{.latency = 1ms, .per_byte = 1000.0}});
        m.computation_begin();
        open.contribute(part.data());
        open.wait();
        CHECK(out == e.whole());
    });
}

TEST_CASE("with agreed checks no call waits for one whose arrivals another rank does not know") {
    std::atomic<bool> told = false;
    std::atomic<bool> const told_before = true;
    papcoll::threads::run(2, [&](endpoint& self) {
        papcoll::attach(self, {.checks = papcoll::check_level::agreed});
        int const rank = self.rank();
        std::array<int, 2> all{};
        papcoll::background_ring const ring{.arrivals = papcoll::arrival_source(std::make_shared<told_later>(
                                                rank == 0 ? told : told_before))};
        auto open = papcoll::open_all_gather(self, all.data(), 1, ring);
        int sum = 0;
        papcoll::all_reduce(self, &rank, 1, &sum, std::plus<>()); // rank 0 learns the arrivals after it
        CHECK(sum == 1);
        told = true;
        open.contribute(&rank);
        open.wait();
        CHECK(all == std::array<int, 2>{0, 1});
    });
}

TEST_CASE("early data moves while the rank that asked the monitor computes") {
    using test_support::shared_endpoint;
    for (int const ranks : {2, 3, 8}) {
        std::atomic<int> others_done = 0;
        papcoll::threads::run(ranks, {.eager_limit = 0}, [&](endpoint& e) {
            shared_endpoint self(e);
            papcoll::attach(self);
            papcoll::basic_arrival_monitor<shared_endpoint> m(self, {.patience = 20s});
            open_suite::elements const all{ranks, 4000, 1};
            auto out = all.nothing();
            auto const part = all.part(self.rank());
            auto open =
                papcoll::open_gather(self, out.data(), all.n, 0, papcoll::sorted_linear{.arrivals = m});
            m.computation_begin();
            m.progress(0.5);
            if (self.rank() == 0) { // without its arrival the others end
                CHECK(comes(others_done, ranks - 1));
                open.contribute(part.data());
                open.wait();
                CHECK(out == all.whole());
            } else {
                open.contribute(part.data());
                open.wait();
                ++others_done;
            }
        });
    }
}

TEST_CASE("asking leaves the computation alone, contributing ends it, and a dropped question takes nothing") {
    for (bool const drops : {false, true})
        papcoll::threads::run(1, [&](endpoint& self) {
            papcoll::attach(self);
            standing_clock clock;
            papcoll::basic_arrival_monitor<endpoint, papcoll::last_value> m(self,
                                                                            {.clock = clock.of_rank(0)});
            for (auto const begin : {0s, 100s}) {
                clock.set(begin);
                int out = 0;
                papcoll::arrival_source const arrivals = m;
                auto open =
                    papcoll::open_all_gather(self, &out, 1, papcoll::background_ring{.arrivals = arrivals});
                if (drops) (void)papcoll::arrival_source(m);
                m.computation_begin();
                clock.set(begin + 6s);
                CHECK_FALSE(open.test());
                CHECK(arrivals.known() == (begin > 0s)); // half of the expected time is over
                clock.set(begin + 8s);
                int const mine = 7;
                open.contribute(&mine);
                clock.set(begin + 9s);
                open.wait();
                CHECK(out == 7);
                CHECK(arrivals.times()[0] == begin + 8s);
            }
            clock.set(200s);
            m.computation_begin();
            CHECK(m.predicted() == 208s);
        });
}

TEST_CASE("patience puts averages off, and reports count at once") {
    papcoll::threads::run(1, [](endpoint& self) {
        standing_clock clock;
        told_monitor m(self, {.share_at = 0.5, .patience = 3s, .clock = clock.of_rank(0)},
                       told{.duration = 10s, .expected = {}});
        auto const known_at = [&](ticks when, papcoll::arrival_source const& arrivals, double fraction) {
            clock.set(when);
            m.progress(fraction);
            return arrivals.known();
        };
        {
            clock.set(0s);
            papcoll::arrival_source const arrivals = m;
            m.computation_begin();
            CHECK_FALSE(known_at(5s, arrivals, 0.1));
            CHECK_FALSE(known_at(8s - 1ns, arrivals, 0.1));
            CHECK(known_at(8s, arrivals, 0.1));
            CHECK(arrivals.times()[0] == 10s);
        }
        clock.set(0s);
        papcoll::arrival_source const arrivals = m;
        m.computation_begin();
        CHECK_FALSE(known_at(6s, arrivals, 0.4));
        CHECK(known_at(6s, arrivals, 0.5));
    });
}

TEST_CASE("a rank that waits asks the others when its patience is over") {
    standing_clock clock;
    std::atomic<bool> contributed = false;
    papcoll::threads::run(2, [&](endpoint& self) {
        papcoll::attach(self);
        told_monitor m(self, {.patience = 1h, .clock = clock.of_rank(self.rank())},
                       told{.duration = {}, .expected = {}});
        std::array<int, 2> out{};
        papcoll::arrival_source const arrivals = m;
        auto open =
            papcoll::open_all_gather(self, out.data(), 1, papcoll::background_ring{.arrivals = arrivals});
        m.computation_begin();
        int const mine = self.rank() + 1;
        if (self.rank() == 0) {
            while (!contributed) std::this_thread::yield();
            std::this_thread::sleep_for(10ms);
            CHECK_FALSE(arrivals.known());
            clock.set(2h);
            // It computes on; its thread says that it knows nothing.
            auto const begin = papcoll::steady_now();
            while (!arrivals.known() && papcoll::steady_now() - begin < 20s) std::this_thread::sleep_for(1ms);
            CHECK(arrivals.known());
        }
        open.contribute(&mine);
        if (self.rank() == 1) contributed = true;
        open.wait();
        CHECK(out == std::array<int, 2>{1, 2});
    });
}

TEST_CASE("a rank that reports nothing is taken to come with the last of the others") {
    constexpr int ranks = 4;
    for (bool const thread : {true, false}) {
        standing_clock clock;
        papcoll::threads::run(ranks, [&](endpoint& self) {
            papcoll::attach(self);
            int const rank = self.rank();
            told_monitor m(self, {.thread = thread, .patience = 1h, .clock = clock.of_rank(rank)},
                           told{.duration = 1s * (10 - rank), .expected = {}});
            std::array<int, ranks> out{};
            papcoll::arrival_source const arrivals = m;
            auto open =
                papcoll::open_all_gather(self, out.data(), 1, papcoll::background_ring{.arrivals = arrivals});
            if (rank != 2) {
                m.computation_begin();
                m.progress(0.6);
                m.progress(0.9); // too late to change anything
            }
            open.contribute(&rank);
            open.wait();
            CHECK(out == std::array<int, ranks>{0, 1, 2, 3});
            REQUIRE(arrivals.times().size() == ranks);
            CHECK(arrivals.times()[2] ==
                  std::max({arrivals.times()[0], arrivals.times()[1], arrivals.times()[3]}));
        });
    }
}

TEST_CASE("a monitor may end before what it was asked for is known") {
    for (int const ranks : {1, 2, 5})
        for (bool const thread : {true, false})
            papcoll::threads::run(ranks, [&](endpoint& self) {
                open_monitored_suite::monitor_ends_early(self, self.rank(), ranks, [&] {
                    return std::make_unique<monitor>(self, monitor_options{.thread = thread});
                });
            });
}

TEST_CASE("a monitor that has ended goes when what it was asked for is known, however that is learnt") {
    struct counted : papcoll::default_predictor {
        std::shared_ptr<int> token;
    };
    using papcoll::arrival_source;
    for (auto* const learn : {+[](arrival_source const& a) { a.answer()->arrive(); },
                              +[](arrival_source const& a) { CHECK(!a.given()); },
                              +[](arrival_source const& a) { a.answer()->look(); }}) {
        std::atomic<int> begun = 0, ended = 0;
        papcoll::threads::run(2, [&](endpoint& self) {
            auto const token = std::make_shared<int>();
            counted predictor;
            predictor.token = token;
            auto m = std::make_unique<papcoll::basic_arrival_monitor<endpoint, counted>>(
                self, monitor_options{.thread = false}, std::move(predictor));
            arrival_source const arrivals = *m;
            m->computation_begin();
            ++begun;
            while (begun < 2 || (self.rank() == 0 && ended == 0)) std::this_thread::yield();
            m.reset();
            if (self.rank() == 1) CHECK(token.use_count() == 2); // until it hears of rank 0
            ++ended;
            while (ended < 2) std::this_thread::yield();
            learn(arrivals);
            CHECK(arrivals.known());
            CHECK(token.use_count() == 1);
        });
    }
}

TEST_CASE("what nobody uses holds nobody up") {
    papcoll::threads::run(3, [](endpoint& self) {
        monitor m(self, {.thread = self.rank() != 1});
        for (int i = 0; i < 5; ++i) {
            m.computation_begin();
            { papcoll::arrival_source const unused = m; }
            (void)m.arrivals();
        }
        papcoll::arrival_source const one = m, other = m;
        CHECK(one == papcoll::arrival_source(one));
        CHECK_FALSE(one == other);
        int sum = 0; // nobody asks before all have seen this
        papcoll::all_reduce(self, 1, sum, std::plus<>{});
        CHECK(sum == 3);
        CHECK(one.answer()->ranks() == 3);
        CHECK_FALSE(other.given());
        CHECK_FALSE(one.given());
        CHECK(one == other);
        CHECK(one == papcoll::arrival_source());
    });
}

TEST_CASE("a report is waited with until there is something to predict by") {
    papcoll::threads::run(1, [](endpoint& self) {
        told_monitor m(self, {}, told{.duration = {}, .expected = {}});
        papcoll::arrival_source const arrivals = m;
        m.computation_begin();
        m.progress(0.9);
        CHECK_FALSE(arrivals.known());
        m.computation_end();
        CHECK(arrivals.known());
        CHECK_FALSE(arrivals.given());
    });
}

TEST_CASE("comparing arrivals leaves the computation alone") {
    papcoll::threads::run(1, [](endpoint& self) {
        standing_clock clock;
        told_monitor m(self, {.clock = clock.of_rank(0)}, told{.duration = 10s, .expected = {}});
        papcoll::arrival_source const arrivals = m;
        m.computation_begin();
        clock.set(6s);
        m.progress(0.6);
        CHECK(arrivals.known());
        CHECK(arrivals == papcoll::arrival_source({10s}));
        CHECK_FALSE(arrivals == papcoll::arrival_source());
        CHECK(m.predicted() == 10s);
    });
}

TEST_CASE("a monitor of which only forgotten arrivals are left is freed at its end") {
    for (bool const thread : {true, false})
        for (int const first : {0, 1}) {
            std::atomic<int> gone = 0;
            papcoll::threads::run(2, [&](endpoint& self) {
                auto const life = std::make_shared<int>();
                std::weak_ptr<int> const alive = life;
                {
                    papcoll::basic_arrival_monitor<endpoint, living> m(self, {.thread = thread},
                                                                       living{{}, life});
                    { papcoll::arrival_source const unused = m; }
                    if (self.rank() != first) CHECK(comes(gone, 1));
                }
                CHECK(alive.use_count() == 1);
                ++gone;
            });
        }
}

TEST_CASE("a policy that keeps its arrivals elsewhere names them, and calls wait for them") {
    using test_support::shared_endpoint;
    std::atomic<int> waiting = 0;
    papcoll::threads::run(3, [&](endpoint& e) {
        shared_endpoint self(e);
        papcoll::attach(self);
        papcoll::basic_arrival_monitor<shared_endpoint> m(self);
        for (int i = 0; i < 3; ++i) {
            bool const is_late = self.rank() == i;
            int sum = 0;
            m.computation_begin();
            if (is_late) CHECK(comes(waiting, 3 * i + 2));
            ++waiting;
            papcoll::arrival_source const first = m;
            int const one = 1;
            papcoll::iall_reduce(self, &one, 1, &sum, std::plus<>(),
                                 naming<papcoll::automatic>{{{.arrivals = first}}})
                .wait();
            CHECK(sum == 3);
            std::array<int, 3> all{};
            papcoll::arrival_source const second = m;
            auto open = papcoll::open_all_gather(self, all.data(), 1,
                                                 naming<papcoll::background_ring>{{{.arrivals = second}}});
            m.computation_begin();
            open.contribute(&i);
            open.wait();
            CHECK(all == std::array<int, 3>{i, i, i});
        }
    });
}

TEST_CASE("a policy that asks a monitor inside an operation under way is told what to do") {
    using test_support::shared_endpoint;
    papcoll::threads::run(2, [](endpoint& e) {
        shared_endpoint self(e);
        papcoll::attach(self);
        papcoll::basic_arrival_monitor<shared_endpoint> m(self, {.thread = self.rank() == 0});
        int const one = 1;
        int sum = 0;
        papcoll::arrival_source const first = m;
        says_what_to_do([&] {
            papcoll::iall_reduce(self, &one, 1, &sum, std::plus<>(),
                                 wrapped<papcoll::automatic>{{.arrivals = first}})
                .wait();
        });
        std::array<int, 2> all{};
        papcoll::arrival_source const second = m;
        says_what_to_do([&] {
            auto open = papcoll::open_all_gather(self, all.data(), 1,
                                                 wrapped<papcoll::background_ring>{{.arrivals = second}});
            open.contribute(&one);
            open.wait();
        });
        // Asked before, they are known inside.
        papcoll::arrival_source const third = m;
        (void)third.given();
        papcoll::iall_reduce(self, &one, 1, &sum, std::plus<>(),
                             wrapped<papcoll::automatic>{{.arrivals = third}})
            .wait();
        CHECK(sum == 2);
    });
}

TEST_CASE("a monitor of other ranks is refused at the call") {
    papcoll::threads::run(2, [](endpoint& self) {
        std::optional<monitor> m(self);
        papcoll::arrival_source const arrivals = *m;
        papcoll::threads::run(1, [&](endpoint& alone) {
            papcoll::attach(alone);
            int out = 0;
            collective_suite::says("one entry per rank", [&] {
                (void)papcoll::open_all_gather(alone, &out, 1,
                                               papcoll::background_ring{.arrivals = arrivals});
            });
        });
    });
}
