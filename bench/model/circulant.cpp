// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// papcoll-bench model circulant: checks the circulant schedules of every rank of every p in a range. Results:
// results/circulant_schedule.md
#include <papcoll/scheduler/circulant/receive_blocks.hpp>
#include <papcoll/scheduler/circulant/send_blocks.hpp>
#include <papcoll/scheduler/circulant/table.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../../test/support/circulant_conditions.hpp"
#include "model.hpp"

namespace bench {
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

auto run(int first, int last, int threads) -> int {
    auto const start = std::chrono::steady_clock::now();
    std::atomic<int> next{first};
    std::atomic<long> wrong{0};
    auto const work = [&] {
        for (int p = next++; p <= last; p = next++) {
            if (p % 1024 == 0)
                show_progress(static_cast<std::size_t>(p - first), static_cast<std::size_t>(last - first + 1),
                              "every rank of p = " + std::to_string(p));
            if (long const n = mistakes(p); n != 0) {
                std::printf("p = %d: %ld ranks have a wrong schedule\n", p, n);
                wrong += n;
            }
        }
    };
    std::vector<std::thread> workers;
    for (int i = 0; i < threads; ++i) workers.emplace_back(work);
    for (auto& each : workers) each.join();
    show_progress(1, 1, "");
    std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - start;
    std::printf("%d <= p <= %d, every rank: %ld wrong schedules, %.0f s with %d threads\n", first, last,
                wrong.load(), seconds.count(), threads);
    return wrong == 0 ? 0 : 1;
}

} // namespace

void add_model_circulant(program& all, CLI::App& group) {
    struct settings {
        int first = 1, last = 65536, threads = 2;
    };
    auto const s = std::make_shared<settings>();
    auto& app = all.add_to(group, "circulant", "Checks the circulant schedules of every rank of every p",
                           [s] { return run(s->first, s->last, s->threads); });
    app.add_option("--first", s->first)->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--last", s->last)->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--threads", s->threads)->check(CLI::PositiveNumber)->capture_default_str();
}

} // namespace bench
