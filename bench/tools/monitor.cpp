// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// papcoll-bench monitor: what an arrival monitor costs the computation that it watches: the same fixed work
// with and without a monitor, in alternating order, on all ranks at once. At most as many ranks as cores:
// each core must have nothing else to do.
//
// Prints the work's times on the slowest rank and the slow-down, the median over pairs of one with and one
// without; as control also that of two without; and which part of a processor the process used beside the
// computing thread, which repeats where times on a shared machine do not. A monitored work includes its three
// reports; its exchange happens meanwhile. With --soak N then runs N epochs with random delays and a
// reduction each, and prints the memory of this process at ten points.
#include <papcoll/collective/reduce.hpp>
#include <papcoll/monitor/arrival_monitor.hpp>
#include <papcoll/monitor/harmonize.hpp>
#include <papcoll/policy/clairvoyant.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <time.h>
#include <vector>

#include "../run/watcher.hpp"
#include "../support/document.hpp"
#include "../support/program.hpp"

namespace bench {
namespace {

using papcoll::arrival_monitor;
using papcoll::steady_now;
using papcoll::ticks;

/// Milliseconds of the slowest rank, from a common start.
auto work(worker& busy, std::uint64_t steps, arrival_monitor* monitor,
          papcoll::synchronised_clock const& clock) -> double {
    (void)papcoll::harmonize(MPI_COMM_WORLD, clock);
    auto const begin = steady_now();
    if (monitor != nullptr) monitor->computation_begin();
    busy.spin(steps / 2);
    if (monitor != nullptr) monitor->progress(0.5);
    busy.spin(steps - steps / 2);
    if (monitor != nullptr) monitor->computation_end();
    auto const took = static_cast<double>((steady_now() - begin).count());
    if (monitor != nullptr && !monitor->arrivals().given()) std::puts("no arrivals were agreed");
    return largest(took) / 1e6;
}

struct found {
    std::vector<double> monitored, control, plain_times, monitored_times, beside;
};

/// Processor time, in milliseconds, of all other threads of this process.
auto time_beside() -> double {
    auto const milliseconds = [](clockid_t id) {
        timespec t{};
        clock_gettime(id, &t);
        return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
    };
    return milliseconds(CLOCK_PROCESS_CPUTIME_ID) - milliseconds(CLOCK_THREAD_CPUTIME_ID);
}

/// The monitor lives only while it is measured: another one's thread must not disturb the plain work.
void measure_pair(worker& busy, std::uint64_t steps, papcoll::synchronised_clock const& clock,
                  bool monitored_first, found& r) {
    auto const with = [&] {
        arrival_monitor monitor(MPI_COMM_WORLD);
        auto const begin = steady_now();
        double const before = time_beside();
        double const took = work(busy, steps, &monitor, clock);
        auto const all = static_cast<double>((steady_now() - begin).count()) / 1e6;
        r.beside.push_back(largest((time_beside() - before) / all));
        return took;
    };
    auto const without = [&] { return work(busy, steps, nullptr, clock); };
    double const before = without();
    double monitored = 0, plain = 0;
    if (monitored_first) monitored = with();
    plain = without();
    if (!monitored_first) monitored = with();
    r.monitored.push_back(monitored / plain);
    r.control.push_back(before / plain);
    r.plain_times.push_back(plain);
    r.monitored_times.push_back(monitored);
}

void print(char const* name, std::vector<double> const& ratio) {
    std::printf("%-22s median %+.2f %%, quartiles %+.2f %% to %+.2f %%\n", name,
                100 * (quantile(ratio, 0.5) - 1), 100 * (quantile(ratio, 0.25) - 1),
                100 * (quantile(ratio, 0.75) - 1));
}

void soak(int epochs) {
    int const rank = world_rank(), ranks = world_size();
    arrival_monitor monitor(MPI_COMM_WORLD, {.poll = std::chrono::microseconds(200)});
    std::mt19937_64 random(static_cast<std::uint64_t>(rank));
    auto const pause = [&] { std::this_thread::sleep_for(std::chrono::microseconds(random() % 500)); };
    int wrong = 0, given = 0;
    std::vector<std::int64_t> const in(1000, rank);
    std::vector<std::int64_t> out(1000);
    for (int epoch = 0; epoch < epochs; ++epoch) {
        monitor.computation_begin();
        pause();
        monitor.progress(0.5);
        pause();
        monitor.computation_end();
        int const root = epoch % ranks;
        papcoll::clairvoyant const policy{.arrivals = monitor, .segments = 4};
        if (policy.arrivals.given()) ++given;
        papcoll::reduce(MPI_COMM_WORLD, in.data(), in.size(), out.data(), std::plus<>{}, root, policy);
        if (rank == root && out != std::vector<std::int64_t>(1000, std::int64_t{ranks} * (ranks - 1) / 2))
            ++wrong;
        if (rank == 0 && epoch % std::max(epochs / 10, 1) == 0)
            std::printf("epoch %6d: %ld KiB\n", epoch, resident_kib());
    }
    auto const all_wrong = largest(wrong), fewest = -largest(-given);
    if (rank == 0)
        std::printf("%d epochs, %d given everywhere, most wrong results on a rank %g, %ld KiB\n", epochs,
                    static_cast<int>(fewest), all_wrong, resident_kib());
}

struct monitor_settings {
    int pairs = 20, epochs = 0;
    double milliseconds = 100;
    std::string json;
};

auto run_monitor(monitor_settings const& s) -> int {
    int provided = 0;
    MPI_Query_thread(&provided);
    if (world_rank() == 0)
        std::printf("%d ranks, %s thread, %d pairs, about %g ms of work\n", world_size(),
                    provided == MPI_THREAD_MULTIPLE ? "with" : "without", s.pairs, s.milliseconds);
    papcoll::synchronised_clock clock;
    clock.synchronise(MPI_COMM_WORLD);
    worker busy;
    busy.calibrate();
    auto steps = busy.steps_for(ticks{static_cast<ticks::rep>(s.milliseconds * 1e6)});
    MPI_Bcast(&steps, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    found r;
    for (int i = 0; i < s.pairs; ++i) measure_pair(busy, steps, clock, i % 2 == 0, r);
    if (world_rank() == 0 && s.pairs > 0) {
        std::printf("without %.2f ms, with a monitor %.2f ms (medians)\n", median(r.plain_times),
                    median(r.monitored_times));
        print("slow-down by a monitor", r.monitored);
        print("control, none twice", r.control);
        std::printf("processor time beside the computing thread: median %.2f %%, worst quartile %.2f %%\n",
                    100 * median(r.beside), 100 * quantile(r.beside, 0.75));
        document result(s.json, "monitor", {{"ranks", world_size()}, {"work_ms", s.milliseconds}});
        result.add({{"slow_down", in_json(statistics_of(r.monitored))},
                    {"control", in_json(statistics_of(r.control))},
                    {"processor_beside", in_json(statistics_of(r.beside))}});
        result.write();
    }
    if (s.epochs > 0) soak(s.epochs);
    return 0;
}

} // namespace

void add_monitor(program& all) {
    auto const s = std::make_shared<monitor_settings>();
    auto& app = all.add("monitor", "What an arrival monitor costs the computation that it watches",
                        MPI_THREAD_MULTIPLE, [s] { return run_monitor(*s); });
    add_option(app, "--repetitions", s->pairs, "pairs of one with and one without", not_negative);
    add_option(app, "--work-ms", s->milliseconds, "", positive);
    add_option(app, "--soak", s->epochs, "so many epochs after it", not_negative);
    add_json(app, s->json);
}

} // namespace bench
