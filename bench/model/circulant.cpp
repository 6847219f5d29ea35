// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// papcoll-bench model circulant: checks the circulant schedules of every rank of every p in a range. Results:
// results/circulant_schedule.md
#include <papcoll/scheduler/circulant/receive_blocks.hpp>
#include <papcoll/scheduler/circulant/send_blocks.hpp>
#include <papcoll/scheduler/circulant/table.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
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

/// Of all p from first to last.
auto mistakes(int first, int last, int threads) -> long {
    std::atomic<int> next{first};
    std::atomic<long> wrong{0};
    auto const work = [&] {
        for (int p = next++; p <= last; p = next++)
            if (long const n = mistakes(p); n != 0) {
                std::printf("p = %d: %ld ranks have a wrong schedule\n", p, n);
                wrong += n;
            }
    };
    std::vector<std::thread> workers;
    for (int i = 0; i < threads; ++i) workers.emplace_back(work);
    for (auto& each : workers) each.join();
    return wrong;
}

/// What has been checked, in a file: lines of the first p, the last, and how many schedules are wrong.
class kept_ranges {
public:
    explicit kept_ranges(std::string const& file) {
        if (file.empty()) return;
        std::ifstream old(file);
        for (int first = 0, last = 0; old >> first >> last;) old >> m_wrong[{first, last}];
        m_out.open(file, std::ios::app);
        if (!m_out) throw std::invalid_argument("cannot write to " + file);
    }
    [[nodiscard]] auto find(int first, int last) const -> long const* {
        auto const found = m_wrong.find({first, last});
        return found == m_wrong.end() ? nullptr : &found->second;
    }
    void add(int first, int last, long wrong) {
        if (m_out.is_open()) m_out << first << ' ' << last << ' ' << wrong << std::endl;
    }

private:
    std::map<std::pair<int, int>, long> m_wrong;
    std::ofstream m_out;
};

struct circulant_settings {
    int first = 1, last = 65536, threads = 2;
    std::string keep;
};

/// In ranges of which each is kept when it has been checked.
auto run_circulant(circulant_settings const& s) -> int {
    constexpr int together = 1024;
    auto const start = std::chrono::steady_clock::now();
    kept_ranges kept(s.keep);
    long wrong = 0;
    for (int first = s.first; first <= s.last;) {
        int const last = std::min(s.last, first + (together - (first - 1) % together) - 1);
        show_progress(static_cast<std::size_t>(first - s.first),
                      static_cast<std::size_t>(s.last - s.first + 1),
                      "every rank of p = " + std::to_string(first));
        if (auto const* const before = kept.find(first, last)) {
            wrong += *before;
        } else {
            long const found = mistakes(first, last, s.threads);
            kept.add(first, last, found);
            wrong += found;
        }
        first = last + 1;
    }
    show_progress(1, 1, "");
    std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - start;
    std::printf("%d <= p <= %d, every rank: %ld wrong schedules, %.0f s with %d threads\n", s.first, s.last,
                wrong, seconds.count(), s.threads);
    return wrong == 0 ? 0 : 1;
}

} // namespace

void add_model_circulant(program& all, CLI::App& group) {
    auto const s = std::make_shared<circulant_settings>();
    auto& app = all.add_to(group, "circulant", "Checks the circulant schedules of every rank of every p",
                           [s] { return run_circulant(*s); });
    add_option(app, "--first", s->first, "", positive);
    add_option(app, "--last", s->last, "", positive);
    add_option(
        app, "--keep", s->keep,
        "a file to which each 1024 that have been checked are added, and which a later run goes on from");
    add_option(app, "--threads", s->threads, "", positive);
}

} // namespace bench
