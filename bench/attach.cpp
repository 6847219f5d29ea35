// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// What it costs to enter papcoll from MPI: to attach to a communicator, to begin many requests, and to have
// one under way while the program computes (the background thread's share of a core). Run it with mpirun.
#include <papcoll/core.hpp>

#include <CLI/CLI.hpp>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <functional>
#include <unistd.h>
#include <vector>

namespace {

int rank = 0;
int ranks = 1;

auto seconds_now() -> double {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
/// The longest over the ranks.
auto of_slowest(double seconds) -> double {
    double result = 0;
    MPI_Allreduce(&seconds, &result, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return result;
}
auto median(std::vector<double> values) -> double {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                     values.end());
    return values[values.size() / 2];
}
/// Kibibytes of this process in memory.
auto resident() -> long {
    std::ifstream statm("/proc/self/statm");
    long total = 0, in_memory = 0;
    statm >> total >> in_memory;
    return in_memory * (sysconf(_SC_PAGESIZE) / 1024);
}
template <class F>
auto time_of(F f) -> double {
    MPI_Barrier(MPI_COMM_WORLD);
    auto const begin = seconds_now();
    f();
    return of_slowest(seconds_now() - begin);
}

void measure_attachment(int repetitions) {
    std::vector<double> duplication, attachment, with_link;
    for (int i = 0; i < repetitions; ++i) {
        MPI_Comm comm = MPI_COMM_NULL;
        duplication.push_back(time_of([&] { MPI_Comm_dup(MPI_COMM_WORLD, &comm); }));
        attachment.push_back(time_of([&] { papcoll::attach(comm); }));
        MPI_Comm_free(&comm);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        with_link.push_back(time_of([&] {
            papcoll::attach(comm, {.link = papcoll::link_model{papcoll::ticks(50'000), 1}});
        }));
        MPI_Comm_free(&comm);
    }
    if (rank != 0) return;
    std::printf("MPI_Comm_dup                     %8.3f ms\n", 1e3 * median(duplication));
    std::printf("attach                           %8.3f ms\n", 1e3 * median(attachment));
    std::printf("attach, link given               %8.3f ms\n", 1e3 * median(with_link));
}

void measure_cycles(int cycles) {
    long after_a_tenth = 0;
    auto const begin = seconds_now();
    for (int i = 0; i < cycles; ++i) {
        if (i == cycles / 10) after_a_tenth = resident();
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        papcoll::attach(comm);
        MPI_Comm_free(&comm);
    }
    auto const each = of_slowest(seconds_now() - begin) / cycles;
    if (rank == 0)
        std::printf("%d cycles of dup, attach, free  %8.3f ms each; memory after a tenth %ld KiB, at the end "
                    "%ld KiB\n",
                    cycles, 1e3 * each, after_a_tenth, resident());
}

void measure_requests(std::size_t count) {
    std::vector<int> const in(count, 1);
    std::vector<int> out(count);
    std::array<double, 2> begun{}, ended{};
    begun[0] = time_of([&] {
        std::vector<MPI_Request> requests(count);
        auto const begin = seconds_now();
        for (std::size_t i = 0; i < count; ++i)
            MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
        ended[0] = seconds_now() - begin;
        MPI_Waitall(static_cast<int>(count), requests.data(), MPI_STATUSES_IGNORE);
    });
    begun[1] = time_of([&] {
        std::vector<papcoll::request> requests;
        auto const begin = seconds_now();
        for (std::size_t i = 0; i < count; ++i)
            requests.push_back(papcoll::iall_reduce(MPI_COMM_WORLD, &in[i], 1, &out[i], std::plus<>(),
                                                    papcoll::circulant{}));
        ended[1] = seconds_now() - begin;
        papcoll::wait_all(requests.begin(), requests.end());
    });
    for (auto& e : ended) e = of_slowest(e);
    if (rank != 0) return;
    std::printf("%zu requests of 4 B: MPI         begun in %8.3f ms, ended in %8.3f ms\n", count,
                1e3 * ended[0], 1e3 * begun[0]);
    std::printf("%zu requests of 4 B: papcoll     begun in %8.3f ms, ended in %8.3f ms\n", count,
                1e3 * ended[1], 1e3 * begun[1]);
}

/// Loops of arithmetic in that time on rank 0, which alone computes.
auto work_in(double seconds) -> double {
    double loops = 0;
    double volatile x = 1;
    auto const end = seconds_now() + seconds;
    while (seconds_now() < end) {
        for (int i = 0; i < 1000; ++i) x = x * 1.0000001;
        ++loops;
    }
    return loops;
}
void measure_thread(double seconds) {
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    std::vector<double> out(static_cast<std::size_t>(ranks));
    double const mine = rank;
    std::vector<double> shares;
    for (int i = 0; i < 9; ++i) {
        double const alone = work_in(seconds);
        auto open = papcoll::open_all_gather(MPI_COMM_WORLD, out.data(), 1, papcoll::ring{});
        double const beside = work_in(seconds);
        open.contribute(&mine);
        open.wait();
        shares.push_back(1 - beside / alone);
    }
    if (rank == 0)
        std::printf("a request under way, %s  takes %.2f %% of a computing core (median of 9)\n",
                    level == MPI_THREAD_MULTIPLE ? "thread  " : "no thread", 100 * median(shares));
}

} // namespace

auto main(int argc, char** argv) -> int {
    int repetitions = 21, cycles = 1000, requests = 1000;
    double seconds = 0.3;
    bool single = false;
    CLI::App app("What it costs to enter papcoll from MPI");
    app.add_option("--repetitions", repetitions, "attachments that are timed")->check(CLI::PositiveNumber);
    app.add_option("--cycles", cycles, "attachments that are made and freed")->check(CLI::PositiveNumber);
    app.add_option("--requests", requests, "requests that are begun together")->check(CLI::PositiveNumber);
    app.add_option("--seconds", seconds, "of each computation beside a request")->check(CLI::PositiveNumber);
    app.add_flag("--single", single, "without MPI_THREAD_MULTIPLE");
    CLI11_PARSE(app, argc, argv);
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, single ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    papcoll::attach(MPI_COMM_WORLD);
    measure_attachment(repetitions);
    measure_requests(static_cast<std::size_t>(requests));
    measure_thread(seconds);
    measure_cycles(cycles);
    MPI_Finalize();
}
