// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// What a monitor costs the computation that it watches: the same fixed work with and without a monitor, in
// alternating order, on all ranks at once. At most as many ranks as cores: each core must have nothing else
// to do.
//
//     mpirun -n 2 monitor_price [pairs] [milliseconds of work] [soak epochs]
//
// Prints the work's times on the slowest rank and the slow-down, the median over pairs of one with and one
// without; as control also that of two without; and which part of a processor the process used beside the
// computing thread, which repeats where times on a shared machine do not. A monitored work includes its three
// reports; its exchange happens meanwhile. With soak epochs > 0 then runs so many epochs with random delays
// and a reduction each, and prints the memory of this process at ten points.
#include <papcoll/collective/reduce.hpp>
#include <papcoll/monitor/arrival_monitor.hpp>
#include <papcoll/monitor/harmonize.hpp>
#include <papcoll/policy/clairvoyant.hpp>

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <optional>
#include <random>
#include <thread>
#include <time.h>
#include <vector>

namespace {

using papcoll::arrival_monitor;
using papcoll::steady_now;
using papcoll::ticks;

/// Integer work that no compiler removes; its time is all on the core.
auto spin(std::uint64_t steps, std::uint64_t x) -> std::uint64_t {
    for (std::uint64_t i = 0; i < steps; ++i) x = x * 6364136223846793005U + 1442695040888963407U;
    return x;
}

std::uint64_t sink = 1;

auto steps_for(double milliseconds) -> std::uint64_t {
    constexpr std::uint64_t probe = 20'000'000;
    double best = 1e18;
    for (int i = 0; i < 5; ++i) {
        auto const begin = steady_now();
        sink = spin(probe, sink);
        best = std::min(best, static_cast<double>((steady_now() - begin).count()));
    }
    return static_cast<std::uint64_t>(static_cast<double>(probe) * milliseconds * 1e6 / best);
}

auto slowest(double value) -> double {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return value;
}

/// Milliseconds of the slowest rank, from a common start.
auto work(std::uint64_t steps, arrival_monitor* monitor, papcoll::synchronised_clock const& clock) -> double {
    (void)papcoll::harmonize(MPI_COMM_WORLD, clock);
    auto const begin = steady_now();
    if (monitor != nullptr) monitor->computation_begin();
    sink = spin(steps / 2, sink);
    if (monitor != nullptr) monitor->progress(0.5);
    sink = spin(steps - steps / 2, sink);
    if (monitor != nullptr) monitor->computation_end();
    auto const took = static_cast<double>((steady_now() - begin).count());
    if (monitor != nullptr && !monitor->arrivals().given()) std::puts("no arrivals were agreed");
    return slowest(took) / 1e6;
}

auto quantile(std::vector<double> values, double q) -> double {
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

struct ratios {
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
void measure_pair(std::uint64_t steps, papcoll::synchronised_clock const& clock, bool monitored_first,
                  ratios& r) {
    auto const with = [&] {
        arrival_monitor monitor(MPI_COMM_WORLD);
        auto const begin = steady_now();
        double const before = time_beside();
        double const took = work(steps, &monitor, clock);
        auto const all = static_cast<double>((steady_now() - begin).count()) / 1e6;
        r.beside.push_back(slowest((time_beside() - before) / all));
        return took;
    };
    auto const without = [&] { return work(steps, nullptr, clock); };
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

auto resident_kilobytes() -> long {
    std::ifstream statm("/proc/self/statm");
    long size = 0, resident = 0;
    statm >> size >> resident;
    return resident * 4;
}

void soak(int epochs, int rank, int ranks) {
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
            std::printf("epoch %6d: %ld KB\n", epoch, resident_kilobytes());
    }
    auto const all_wrong = slowest(wrong), fewest = -slowest(-given);
    if (rank == 0)
        std::printf("%d epochs, %d given everywhere, most wrong results on a rank %g, %ld KB\n", epochs,
                    static_cast<int>(fewest), all_wrong, resident_kilobytes());
}

} // namespace

auto main(int argc, char** argv) -> int {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int const pairs = argc > 1 ? std::atoi(argv[1]) : 20;
    double const milliseconds = argc > 2 ? std::atof(argv[2]) : 100;
    int const epochs = argc > 3 ? std::atoi(argv[3]) : 0;
    if (rank == 0)
        std::printf("%d ranks, %s thread, %d pairs, about %g ms of work\n", ranks,
                    provided == MPI_THREAD_MULTIPLE ? "with" : "without", pairs, milliseconds);
    papcoll::synchronised_clock clock;
    clock.synchronise(MPI_COMM_WORLD);
    auto steps = steps_for(milliseconds);
    MPI_Bcast(&steps, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    ratios r;
    for (int i = 0; i < pairs; ++i) measure_pair(steps, clock, i % 2 == 0, r);
    if (rank == 0 && pairs > 0) {
        std::printf("without %.2f ms, with a monitor %.2f ms (medians)\n", quantile(r.plain_times, 0.5),
                    quantile(r.monitored_times, 0.5));
        print("slow-down by a monitor", r.monitored);
        print("control, none twice", r.control);
        std::printf("processor time beside the computing thread: median %.2f %%, worst quartile %.2f %%\n",
                    100 * quantile(r.beside, 0.5), 100 * quantile(r.beside, 0.75));
    }
    if (epochs > 0) soak(epochs, rank, ranks);
    MPI_Finalize();
    return sink == 0 ? 1 : 0;
}
