// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// papcoll-bench attach: what it costs to enter papcoll from MPI: to attach to a communicator, to begin many
// requests, and to have one under way while the program computes (the background thread's share of a core).
#include <papcoll/core.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include "../support/document.hpp"
#include "../support/program.hpp"

namespace bench {
namespace {

template <class F>
auto time_of(F f) -> double {
    MPI_Barrier(MPI_COMM_WORLD);
    auto const begin = MPI_Wtime();
    f();
    return largest(MPI_Wtime() - begin);
}

void measure_attachment(int repetitions, document& all) {
    std::vector<double> duplication, attachment, with_link;
    for (int i = 0; i < repetitions; ++i) {
        MPI_Comm comm = MPI_COMM_NULL;
        duplication.push_back(1e3 * time_of([&] { MPI_Comm_dup(MPI_COMM_WORLD, &comm); }));
        attachment.push_back(1e3 * time_of([&] { papcoll::attach(comm); }));
        MPI_Comm_free(&comm);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        with_link.push_back(
            1e3 * time_of([&] {
                papcoll::attach(comm, {.link = papcoll::link_model{papcoll::ticks(50'000), 1}});
            }));
        MPI_Comm_free(&comm);
    }
    if (world_rank() != 0) return;
    for (auto const& [name, times] :
         {std::pair("MPI_Comm_dup", &duplication), std::pair("attach", &attachment),
          std::pair("attach, link given", &with_link)}) {
        auto const found = statistics_of(*times);
        std::printf("%-32s %8.3f ms\n", name, found.median);
        all.add({{"operation", name}, {"time_ms", in_json(found)}});
    }
}

void measure_cycles(int cycles) {
    long after_a_tenth = 0;
    auto const begin = MPI_Wtime();
    for (int i = 0; i < cycles; ++i) {
        if (i == cycles / 10) after_a_tenth = resident_kib();
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        papcoll::attach(comm);
        MPI_Comm_free(&comm);
    }
    auto const each = largest(MPI_Wtime() - begin) / cycles;
    if (world_rank() == 0)
        std::printf("%d cycles of dup, attach, free  %8.3f ms each; memory after a tenth %ld KiB, at the end "
                    "%ld KiB\n",
                    cycles, 1e3 * each, after_a_tenth, resident_kib());
}

void measure_requests(std::size_t count) {
    std::vector<int> const in(count, 1);
    std::vector<int> out(count);
    std::array<double, 2> begun{}, ended{};
    begun[0] = time_of([&] {
        std::vector<MPI_Request> requests(count);
        auto const begin = MPI_Wtime();
        for (std::size_t i = 0; i < count; ++i)
            MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
        ended[0] = MPI_Wtime() - begin;
        MPI_Waitall(static_cast<int>(count), requests.data(), MPI_STATUSES_IGNORE);
    });
    begun[1] = time_of([&] {
        std::vector<papcoll::request> requests;
        auto const begin = MPI_Wtime();
        for (std::size_t i = 0; i < count; ++i)
            requests.push_back(papcoll::iall_reduce(MPI_COMM_WORLD, &in[i], 1, &out[i], std::plus<>(),
                                                    papcoll::circulant{}));
        ended[1] = MPI_Wtime() - begin;
        papcoll::wait_all(requests.begin(), requests.end());
    });
    for (auto& e : ended) e = largest(e);
    if (world_rank() != 0) return;
    std::printf("%zu requests of 4 B: MPI         begun in %8.3f ms, ended in %8.3f ms\n", count,
                1e3 * ended[0], 1e3 * begun[0]);
    std::printf("%zu requests of 4 B: papcoll     begun in %8.3f ms, ended in %8.3f ms\n", count,
                1e3 * ended[1], 1e3 * begun[1]);
}

/// Loops of arithmetic in that time on rank 0, which alone computes.
auto work_in(double seconds) -> double {
    double loops = 0;
    double volatile x = 1;
    auto const end = MPI_Wtime() + seconds;
    while (MPI_Wtime() < end) {
        for (int i = 0; i < 1000; ++i) x = x * 1.0000001;
        ++loops;
    }
    return loops;
}
void measure_thread(double seconds) {
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    std::vector<double> out(static_cast<std::size_t>(world_size()));
    double const mine = world_rank();
    std::vector<double> shares;
    for (int i = 0; i < 9; ++i) {
        double const alone = work_in(seconds);
        auto open = papcoll::open_all_gather(MPI_COMM_WORLD, out.data(), 1, papcoll::ring{});
        double const beside = work_in(seconds);
        open.contribute(&mine);
        open.wait();
        shares.push_back(1 - beside / alone);
    }
    if (world_rank() == 0)
        std::printf("a request under way, %s  takes %.2f %% of a computing core (median of 9)\n",
                    level == MPI_THREAD_MULTIPLE ? "thread  " : "no thread", 100 * median(shares));
}

} // namespace

void add_attach(program& all) {
    struct settings {
        int repetitions = 21, cycles = 1000, requests = 1000;
        double seconds = 0.3;
        bool single = false;
        std::string json;
    };
    auto const s = std::make_shared<settings>();
    auto const run = [s] {
        papcoll::attach(MPI_COMM_WORLD);
        document result(s->json, "attach", {{"ranks", world_size()}});
        measure_attachment(s->repetitions, result);
        measure_requests(static_cast<std::size_t>(s->requests));
        measure_thread(s->seconds);
        measure_cycles(s->cycles);
        result.write();
        return 0;
    };
    auto& app = all.add(
        "attach", "What it costs to enter papcoll from MPI",
        [s] { return s->single ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE; }, run);
    add_option(app, "--repetitions", s->repetitions, "attachments that are timed", positive);
    add_option(app, "--cycles", s->cycles, "attachments that are made and freed", positive);
    add_option(app, "--requests", s->requests, "requests that are begun together", positive);
    add_option(app, "--seconds", s->seconds, "of each computation beside a request", positive);
    add_flag(app, "--single", s->single, "without MPI_THREAD_MULTIPLE");
    add_json(app, s->json);
}

} // namespace bench
