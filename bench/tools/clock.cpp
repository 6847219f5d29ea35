// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// papcoll-bench clock: how far synchronised clocks are from the truth, and whether they know it. Every rank's
// clock is made wrong: rank r's is r × offset ahead and gains drift × (r mod 3 − 1). The ranks must run on
// one machine, whose monotonic clock is the truth.
//
// A line per round: how long the synchronisation took; the largest true error and the largest estimate over
// all ranks right after it and just before the next; how uncertain the drift is; how far apart the ranks left
// harmonize in true time, and how late the latest said it was. Fails when a true error exceeds its estimate.
#include <papcoll/monitor/harmonize.hpp>
#include <papcoll/monitor/synchronised_clock.hpp>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <thread>

#include "../support/document.hpp"
#include "../support/program.hpp"

namespace bench {
namespace {

using papcoll::steady_now;
using papcoll::ticks;

struct clock_settings {
    std::string json;
    int rounds = 6;
    double gap = 1.0;    // seconds
    double offset = 1.0; // seconds
    double drift = 50;   // ppm
    int pings = 20;
    double span = 0; // seconds
    bool anew = false;
};

/// Shows origin + offset + (1 + drift) (t − origin) at real time t.
struct wrong_clock {
    std::int64_t origin;
    double offset, drift;

    [[nodiscard]] auto at(ticks real) const -> ticks {
        auto const gained = drift * static_cast<double>(real.count() - origin);
        return real + ticks{std::llround(offset + gained)};
    }
    [[nodiscard]] auto operator()() const -> ticks { return at(steady_now()); }
};

auto clock_of(int rank, clock_settings const& s, std::int64_t origin) -> wrong_clock {
    return {origin, rank * s.offset * 1e9, (rank % 3 - 1) * s.drift * 1e-6};
}

/// In nanoseconds: how wrong the clock is now, and what it says itself.
struct reading {
    double wrong, estimate;
};

auto read(papcoll::synchronised_clock const& clock, wrong_clock const& local, wrong_clock const& root)
    -> reading {
    auto const real = steady_now();
    auto const wrong = clock.to_global(local.at(real)) - root.at(real);
    auto const estimate = clock.track().at(local.at(real)).error();
    return {std::abs(static_cast<double>(wrong.count())), static_cast<double>(estimate.count())};
}

auto run_clock(clock_settings const& s) -> int {
    int const rank = world_rank();
    auto origin = std::int64_t{steady_now().count()};
    MPI_Bcast(&origin, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    auto const local = clock_of(rank, s, origin), root = clock_of(0, s, origin);
    papcoll::synchronised_clock clock(local);
    bool honest = true;
    document result(s.json, "clock", {{"ranks", world_size()}});
    if (rank == 0)
        std::printf("%d ranks, offsets of %g s per rank, drifts of 0 and +-%g ppm, %d pings, %g s apart\n",
                    world_size(), s.offset, s.drift, s.pings, s.gap);
    if (rank == 0)
        std::puts(
            "round  took/ms | after: true/us  estimate/us | before: true/us  estimate/us | drift/ppm +- | "
            "apart/us  late/us");
    for (int round = 0; round < s.rounds; ++round) {
        reading const before = round > 0 ? read(clock, local, root) : reading{0, 0};
        MPI_Barrier(MPI_COMM_WORLD);
        auto const begin = steady_now();
        if (s.anew) clock = papcoll::synchronised_clock(local);
        clock.synchronise(MPI_COMM_WORLD, s.pings, ticks{std::llround(s.span * 1e9)});
        auto const took = static_cast<double>((steady_now() - begin).count());
        reading const after = read(clock, local, root);
        auto const late = papcoll::harmonize(MPI_COMM_WORLD, clock);
        auto const left = static_cast<double>(steady_now().count() - origin);
        honest = honest && after.wrong <= after.estimate + 2 && before.wrong <= before.estimate + 2;
        auto const apart = largest(left) + largest(-left);
        std::array<double, 7> const most{largest(took) / 1e6,
                                         largest(after.wrong) / 1e3,
                                         largest(after.estimate) / 1e3,
                                         largest(before.wrong) / 1e3,
                                         largest(before.estimate) / 1e3,
                                         largest(clock.track().drift_error()) * 1e6,
                                         largest(static_cast<double>(late.count())) / 1e3};
        if (rank == 0)
            std::printf("%5d %8.2f | %14.2f %12.2f | %15.2f %12.2f | %13.2f | %8.1f %8.1f\n", round, most[0],
                        most[1], most[2], most[3], most[4], most[5], apart / 1e3, most[6]);
        result.add({{"round", round},
                    {"took_ms", most[0]},
                    {"error_us", most[1]},
                    {"estimated_error_us", most[2]},
                    {"error_before_us", most[3]},
                    {"estimated_error_before_us", most[4]},
                    {"drift_error_ppm", most[5]},
                    {"apart_us", apart / 1e3},
                    {"late_us", most[6]}});
        std::this_thread::sleep_for(std::chrono::duration<double>(s.gap));
    }
    result.write();
    bool const all_honest = largest(honest ? 0 : 1) < 1;
    if (rank == 0) std::puts(all_honest ? "all estimates were honest" : "AN ESTIMATE WAS TOO SMALL");
    return all_honest ? 0 : 1;
}

} // namespace

void add_clock(program& all) {
    auto const s = std::make_shared<clock_settings>();
    auto& app = all.add("clock", "How far synchronised clocks are from the truth, and whether they know it",
                        MPI_THREAD_SINGLE, [s] { return run_clock(*s); });
    add_option(app, "--rounds", s->rounds, "", positive);
    add_option(app, "--gap", s->gap, "between two rounds, in seconds");
    add_option(app, "--offset", s->offset, "of the clocks of neighbouring ranks, in seconds");
    add_option(app, "--drift", s->drift, "of rank r's clock, times r mod 3 − 1, in ppm");
    add_option(app, "--pings", s->pings, "of a synchronisation", positive);
    add_option(app, "--span", s->span, "of a synchronisation that measures the drift, too, in seconds",
               not_negative);
    add_flag(app, "--anew", s->anew, "each synchronisation knows nothing of those before");
    add_json(app, s->json);
}

} // namespace bench
