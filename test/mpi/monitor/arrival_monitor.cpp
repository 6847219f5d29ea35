// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// env.single: PAPCOLL_TEST_THREADS=single
// env.mixed: PAPCOLL_TEST_THREADS=mixed
#include <papcoll/monitor.hpp>
#include <papcoll/monitor/arrival_monitor.hpp>
#include <papcoll/monitor/harmonize.hpp>
#include <papcoll/papcoll.hpp>

#include <boost/mpi/collectives.hpp>
#include <boost/mpi/communicator.hpp>
#include <doctest/doctest.h>
#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../../support/monitor_suite.hpp"
#include "../../support/open_monitored_suite.hpp"
#include "../../support/wrong_clock.hpp"

namespace mpi = boost::mpi;
using namespace std::chrono_literals;
using papcoll::arrival_monitor;
using papcoll::ticks;

namespace {

void check_equal_everywhere(mpi::communicator const& world, monitor_suite::takes const& taken) {
    auto const mine = monitor_suite::digest(taken);
    CHECK(mpi::all_reduce(world, mine, mpi::minimum<std::int64_t>()) ==
          mpi::all_reduce(world, mine, mpi::maximum<std::int64_t>()));
}

/// Pages of memory that belong to this process alone.
auto resident_pages() -> long {
    std::ifstream statm("/proc/self/statm");
    long size = 0, resident = 0, shared = 0;
    statm >> size >> resident >> shared;
    return resident - shared;
}

} // namespace

TEST_CASE("whatever ranks report, all take the same arrivals at the same time") {
    mpi::communicator const world;
    for (int const threads : {0, 1, 2}) {
        bool const thread = threads == 2 || (threads == 1 && world.rank() % 3 != 1);
        arrival_monitor monitor(
            world,
            {.thread = thread, .poll = 200us, .clock = test_support::wrong_clock::of_rank(world.rank())});
        check_equal_everywhere(world,
                               monitor_suite::run_oddly(world, monitor, world.rank(), world.size(), 8, 5));
    }
}

TEST_CASE("in ordinary iterations the first collective has arrivals and the second none") {
    mpi::communicator const world;
    arrival_monitor monitor(world);
    int provided = MPI_THREAD_SINGLE;
    MPI_Query_thread(&provided);
    CHECK(monitor.has_thread() == (world.size() > 1 && provided == MPI_THREAD_MULTIPLE));
    check_equal_everywhere(world, monitor_suite::run_orderly(world, monitor, world.rank(), world.size(), 10));
}

TEST_CASE("monitors of several communicators work at once") {
    mpi::communicator const world;
    auto const half = world.split(world.rank() % 2);
    arrival_monitor of_world(world);
    arrival_monitor of_half{MPI_Comm(half)};
    for (int i = 0; i < 3; ++i) {
        check_equal_everywhere(half, monitor_suite::run_orderly(half, of_half, half.rank(), half.size(), 2));
        check_equal_everywhere(world,
                               monitor_suite::run_orderly(world, of_world, world.rank(), world.size(), 2));
    }
}

TEST_CASE("a rank may leave at any time, and those who stay go on together") {
    mpi::communicator const world;
    if (world.size() == 1) return;
    for (int const leaver : {0, world.size() - 1}) {
        monitor_suite::takes taken;
        try {
            arrival_monitor monitor(world, {.thread = world.rank() % 3 != 2});
            for (int epoch = 0; epoch < 10; ++epoch) {
                monitor.computation_begin();
                if (world.rank() == leaver && epoch == 4) throw std::runtime_error("a rank fails");
                monitor.progress(0.5);
                monitor_suite::add(taken, monitor.arrivals());
            }
        } catch (std::runtime_error const&) {
            CHECK(world.rank() == leaver);
        }
        // What the others took after the leaver's end is empty, but theirs to compare.
        taken.resize(4);
        check_equal_everywhere(world, taken);
    }
}

TEST_CASE("clocks that are seconds apart are synchronised, and ranks start together") {
    mpi::communicator const world;
    auto const local = test_support::wrong_clock::of_rank(world.rank());
    papcoll::synchronised_clock clock(local);
    // Ranks of one machine share the real clock; the wrong ones have an origin each, which drifts multiply.
    clock.synchronise(world);
    auto const real = papcoll::steady_now();
    auto const shown = clock.to_global(local.at(real)).count() - real.count();
    auto const root_shows = mpi::all_reduce(world, world.rank() == 0 ? shown : 0, std::plus<>{});
    auto const wrong = ticks{shown - root_shows};
    // Drifts of 50 ppm for the milliseconds between the readings of the ranks are microseconds.
    CHECK(std::chrono::abs(wrong) <= clock.track().at(local.at(real)).error() + 100us);

    auto const before = papcoll::steady_now().count();
    auto const late = papcoll::harmonize(world, clock, 20ms);
    auto const after = papcoll::steady_now().count();
    CHECK(late >= 0ns);
    CHECK(after >= mpi::all_reduce(world, before, mpi::maximum<std::int64_t>()));
}

TEST_CASE("hundreds of epochs with random delays leave the memory as it was") {
    mpi::communicator const world;
    arrival_monitor monitor(world, {.poll = 200us});
    std::mt19937_64 random(static_cast<std::uint64_t>(world.rank()));
    long after_first = 0;
    int given = 0;
    for (int epoch = 0; epoch < 300; ++epoch) {
        monitor.computation_begin();
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
        monitor.progress(0.5);
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
        monitor.computation_end();
        std::int64_t sum = 0;
        papcoll::clairvoyant const policy{.arrivals = monitor, .segments = 1};
        papcoll::reduce(world, std::int64_t{world.rank()}, sum, std::plus<>{}, 0, policy);
        if (world.rank() == 0) CHECK(sum == std::int64_t{world.size()} * (world.size() - 1) / 2);
        if (policy.arrivals.given()) ++given;
        if (epoch == 150) after_first = resident_pages();
    }
    CHECK(given == 300);
    CHECK(resident_pages() - after_first < 256); // a megabyte: what the MPI library may still allocate
}

TEST_CASE("split-phase collectives find their arrivals in the background, whatever ranks report") {
    mpi::communicator const world;
    for (int const threads : {0, 1, 2}) {
        bool const thread = threads == 2 || (threads == 1 && world.rank() % 3 != 1);
        arrival_monitor monitor(
            world,
            {.thread = thread, .poll = 200us, .clock = test_support::wrong_clock::of_rank(world.rank())});
        check_equal_everywhere(
            world, open_monitored_suite::run_oddly(world, monitor, world.rank(), world.size(), 8, 5));
    }
}

TEST_CASE("split-phase collectives of sub-communicators have monitors of their own") {
    mpi::communicator const world;
    auto const part = world.split(world.rank() % 3 == 1 ? 1 : 0, -world.rank());
    arrival_monitor of_world(world, {.patience = 20s}), of_part(part, {.patience = 20s});
    for (int i = 0; i < 2; ++i) {
        check_equal_everywhere(part,
                               open_monitored_suite::run_orderly(part, of_part, part.rank(), part.size(), 2));
        check_equal_everywhere(
            world, open_monitored_suite::run_orderly(world, of_world, world.rank(), world.size(), 2));
    }
}

TEST_CASE("a monitor may end before what it was asked for is known") {
    mpi::communicator const world;
    open_monitored_suite::monitor_ends_early(world, world.rank(), world.size(),
                                             [&] { return std::make_unique<arrival_monitor>(world); });
}
