// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/open_all_gatherv.hpp>
#include <papcoll/monitor/arrival_monitor.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "monitor_suite.hpp"
#include "open_suite.hpp"

/// What must hold for split-phase collectives whose arrivals a monitor gives, over any transport.
namespace open_monitored_suite {

using monitor_suite::takes;
using open_suite::elements;

/// One way to gather; all ranks draw the same.
enum class form { all, circulant, at_root, uneven, any };

template <class Comm, class Compute>
void gather_once(Comm& comm, int rank, int ranks, form f, papcoll::arrival_source const& arrivals,
                 int variant, Compute compute) {
    elements const e{ranks, std::size_t{500} + static_cast<std::size_t>(variant % 7), variant};
    auto out = e.nothing();
    auto const part = e.part(rank);
    auto const own = out.data() + static_cast<std::size_t>(rank) * e.n;
    int const root = variant % ranks;
    bool const has_place = f != form::at_root || rank == root;
    auto const finish = [&](auto open) {
        compute();
        CHECK_FALSE(open.ended());
        open_suite::contribute(open, e, rank, has_place ? own : nullptr, part);
        open.wait();
    };
    using namespace papcoll;
    if (f == form::all) finish(open_all_gather(comm, out.data(), e.n, background_ring{.arrivals = arrivals}));
    if (f == form::circulant)
        finish(open_all_gather(comm, out.data(), e.n, background_circulant{.arrivals = arrivals}));
    if (f == form::at_root)
        finish(open_gather(comm, out.data(), e.n, root, sorted_linear{.arrivals = arrivals}));
    if (f == form::uneven)
        finish(open_all_gatherv(comm, out.data(),
                                std::vector<std::size_t>(static_cast<std::size_t>(ranks), e.n),
                                background_circulant{.arrivals = arrivals}));
    if (f == form::any) finish(open_all_gather(comm, out.data(), e.n, automatic{.arrivals = arrivals}));
    CHECK(out == (has_place ? e.whole() : e.nothing()));
}

/// `epochs` iterations with odd reports, or none, and delays; a blocking collective now and then before the
/// prediction, and one that asks the monitor, too. Returns what the split-phase ones were told.
template <class Comm, class Monitor>
auto run_oddly(Comm& comm, Monitor& monitor, int rank, int ranks, int epochs, std::uint64_t seed) -> takes {
    (void)papcoll::detail::attached_context(comm);
    std::mt19937_64 random(seed + static_cast<std::uint64_t>(rank)), common(seed);
    takes all;
    auto const sum_up = [&](papcoll::arrival_source const& arrivals) {
        std::int64_t sum = 0;
        papcoll::all_reduce(comm, std::int64_t{1}, sum, std::plus<>{},
                            papcoll::automatic{.arrivals = arrivals});
        CHECK(sum == ranks);
    };
    for (int epoch = 0; epoch < epochs; ++epoch) {
        bool const reports_first = random() % 4 == 0;
        if (reports_first) monitor.computation_begin();
        papcoll::arrival_source const arrivals = monitor;
        auto const drawn = common();
        gather_once(comm, rank, ranks, static_cast<form>(drawn % 5), arrivals, epoch, [&] {
            if (drawn / 8 % 3 == 0) sum_up({}); // is not held up
            monitor_suite::compute_oddly(monitor, random);
            if (rank == epoch % ranks) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        });
        CHECK(arrivals.known());
        monitor_suite::add(all, arrivals);
        if (drawn / 64 % 3 == 0) {
            papcoll::arrival_source const more = monitor;
            sum_up(more);
            monitor_suite::add(all, more);
        }
    }
    return all;
}

/// Iterations as they should be: every one is told arrivals, a second gather of it none.
template <class Comm, class Monitor>
auto run_orderly(Comm& comm, Monitor& monitor, int rank, int ranks, int epochs) -> takes {
    (void)papcoll::detail::attached_context(comm);
    std::mt19937_64 random(static_cast<std::uint64_t>(rank));
    auto const work = [&] { std::this_thread::sleep_for(std::chrono::microseconds(random() % 1500)); };
    takes all;
    for (int epoch = 0; epoch < epochs; ++epoch) {
        papcoll::arrival_source const first = monitor, second = monitor;
        elements const e{ranks, 300, epoch};
        auto a = e.nothing(), b = e.nothing();
        auto const part = e.part(rank);
        auto open_a =
            papcoll::open_all_gather(comm, a.data(), e.n, papcoll::background_ring{.arrivals = first});
        auto open_b =
            papcoll::open_all_gather(comm, b.data(), e.n, papcoll::background_circulant{.arrivals = second});
        monitor.computation_begin();
        work();
        monitor.progress(0.5);
        work();
        if (epoch % 2 == 0) monitor.computation_end();
        open_a.contribute(part.data());
        open_b.contribute(part.data());
        open_b.wait();
        open_a.wait();
        CHECK(a == e.whole());
        CHECK(b == e.whole());
        CHECK(first.given());
        CHECK(first.times().size() == static_cast<std::size_t>(ranks));
        CHECK_FALSE(second.given());
        monitor_suite::add(all, first);
    }
    return all;
}

/// The monitor ends before its arrivals are known; so they never are, or all had given what they knew.
template <class Comm, class MakeMonitor>
void monitor_ends_early(Comm& comm, int rank, int ranks, MakeMonitor make) {
    (void)papcoll::detail::attached_context(comm);
    for (int const leaver : {0, ranks - 1}) {
        auto monitor = make();
        papcoll::arrival_source const arrivals = *monitor;
        gather_once(comm, rank, ranks, form::all, arrivals, leaver, [&] {
            monitor->computation_begin();
            if (rank % 2 == 0) monitor->progress(0.5);
            if (rank == leaver) monitor.reset();
        });
        CHECK(arrivals.known());
    }
}

} // namespace open_monitored_suite
