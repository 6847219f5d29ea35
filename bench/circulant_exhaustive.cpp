// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// Checks the circulant schedules of every rank of every p in a range. Results: results/circulant_schedule.md
//
//     circulant_exhaustive [first [last [threads]]]      default: 1 65536 2
#include <papcoll/scheduler/circulant/receive_blocks.hpp>
#include <papcoll/scheduler/circulant/send_blocks.hpp>
#include <papcoll/scheduler/circulant/table.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "support/circulant_conditions.hpp"

namespace {

/// The ranks of p whose schedules are wrong.
auto mistakes(int p) -> long {
    papcoll::circulant_table const table{papcoll::circulant_skips(p)};
    long wrong = 0;
    for (int rank = 0; rank < p; ++rank) {
        papcoll::circulant_blocks receives; // the table has them from the search that receive_blocks() uses
        for (int k = 0; k < table.skips().rounds(); ++k) receives.set(k, table.receives(rank, k));
        auto const sends = papcoll::send_blocks(table.skips(), rank);
        auto const expected = [&](int k) { return table.receives(table.skips().target(rank, k), k); };
        bool const right = circulant_conditions::hold(table.skips(), rank, receives, sends, expected);
        wrong += right ? 0 : 1;
    }
    return wrong;
}

} // namespace

int main(int argc, char** argv) {
    int const first = argc > 1 ? std::atoi(argv[1]) : 1;
    int const last = argc > 2 ? std::atoi(argv[2]) : 65536;
    int const threads = argc > 3 ? std::atoi(argv[3]) : 2;
    if (first < 1 || last < first || threads < 1) {
        std::fprintf(stderr, "usage: circulant_exhaustive [first [last [threads]]], 1 <= first <= last\n");
        return 2;
    }
    auto const start = std::chrono::steady_clock::now();
    std::atomic<int> next{first};
    std::atomic<long> wrong{0};
    auto const work = [&] {
        for (int p = next++; p <= last; p = next++) {
            if (p % 4096 == 0) std::fprintf(stderr, "p = %d\n", p);
            if (long const n = mistakes(p); n != 0) {
                std::printf("p = %d: %ld ranks have a wrong schedule\n", p, n);
                wrong += n;
            }
        }
    };
    std::vector<std::thread> workers;
    for (int i = 0; i < threads; ++i) workers.emplace_back(work);
    for (auto& worker : workers) worker.join();
    std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - start;
    std::printf("%d <= p <= %d, every rank: %ld wrong schedules, %.0f s with %d threads\n", first, last,
                wrong.load(), seconds.count(), threads);
    return wrong == 0 ? 0 : 1;
}
