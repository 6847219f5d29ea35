// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// Paper 1, Table 1 and what its figures 7 and 8 show: run times of Clairvoyant's searches over many instances
// of each size, and how often the pairing heaps are changed (Lemma 1). It takes hours: what has been measured
// is kept in a file, and a later run goes on behind it.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "../support/program.hpp"
#include "../support/statistics.hpp"
#include "contestants.hpp"
#include "schedule.hpp"

namespace bench {
namespace {

/// Paper 1, Table 1: speed-up of its segment tree over linear search and over pairing heaps.
struct published {
    int size;
    double linear_uniform, heaps_uniform, linear_skewed, heaps_skewed;

    [[nodiscard]] auto linear(distribution kind) const -> double {
        return kind == distribution::uniform ? linear_uniform : linear_skewed;
    }
    [[nodiscard]] auto heaps(distribution kind) const -> double {
        return kind == distribution::uniform ? heaps_uniform : heaps_skewed;
    }
};
constexpr published published_rows[] = {
    {4, 0.49, 1.84, 0.45, 2.45},     {8, 0.62, 3.07, 0.61, 5.68},      {16, 0.73, 3.53, 0.61, 5.34},
    {32, 0.97, 5.72, 0.67, 8.60},    {64, 1.26, 8.17, 0.64, 14.37},    {128, 2.00, 12.46, 0.61, 21.04},
    {256, 4.05, 15.58, 0.64, 22.77}, {512, 19.33, 43.64, 1.36, 82.98},
};

/// What the table compares, by the names of the contestants.
constexpr char const* linear = "linear, pseudocode";
constexpr char const* heaps = "pairing heaps";
constexpr char const* tree = "segment_tree<widest>";
#if defined(__AVX2__)
constexpr char const* sliced = "sliced_counters<avx2>";
#else
constexpr char const* sliced = "sliced_counters<widest>";
#endif

auto runner(std::string const& search) -> contestant const& {
    return *std::find_if(contestants.begin(), contestants.end(),
                         [&](contestant const& c) { return search == c.name; });
}

struct run_of_one {
    double milliseconds = 0;
    std::size_t transfers = 0;
    heap_operations operations = {};
};

auto processor_nanoseconds() -> double {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// The processor time of one schedule; short ones are repeated for a tenth of a millisecond.
auto measure(contestant const& c, instance const& i) -> run_of_one {
    run_of_one result;
    auto const once = [&] {
        double const begin = processor_nanoseconds();
        auto const made = c.run(i);
        result.transfers = made.transfers;
        result.operations = made.heaps;
        return processor_nanoseconds() - begin;
    };
    double took = once();
    if (took < 1e5) { // not the first, which finds empty caches
        int const runs = 1 + static_cast<int>(1e5 / took);
        took = 0;
        for (int n = 0; n < runs; ++n) took += once() / runs;
    }
    result.milliseconds = took * 1e-6;
    return result;
}

/// All that has been measured: distribution, size, search, seed.
class kept_runs {
public:
    using key = std::tuple<std::string, int, std::string, int>;

    explicit kept_runs(std::string const& file) {
        if (file.empty()) return;
        std::ifstream old(file);
        for (std::string line; std::getline(old, line);) {
            std::istringstream words(line);
            std::string kind, search;
            int size = 0, seed = 0;
            run_of_one r;
            char comma{};
            if (std::getline(words, kind, ';') && words >> size >> comma &&
                std::getline(words, search, ';') &&
                words >> seed >> comma >> r.milliseconds >> comma >> r.transfers >> comma >>
                    r.operations.inserts >> comma >> r.operations.erases)
                m_runs[{kind, size, search, seed}] = r;
        }
        m_out.open(file, std::ios::app);
        if (!m_out) throw std::invalid_argument("cannot write to " + file);
    }

    [[nodiscard]] auto find(key const& k) const -> run_of_one const* {
        auto const found = m_runs.find(k);
        return found == m_runs.end() ? nullptr : &found->second;
    }
    void add(key const& k, run_of_one const& r) {
        m_runs[k] = r;
        if (!m_out.is_open()) return;
        auto const& [kind, size, search, seed] = k;
        m_out << kind << ';' << size << ';' << search << ';' << seed << ';' << r.milliseconds << ';'
              << r.transfers << ';' << r.operations.inserts << ';' << r.operations.erases << std::endl;
    }

private:
    std::map<key, run_of_one> m_runs;
    std::ofstream m_out;
};

struct column {
    std::vector<double> milliseconds;
    double inserts = 0, erases = 0, transfers = 0;
};

auto column_of(kept_runs const& kept, distribution kind, int size, char const* search, int instances)
    -> column {
    column result;
    for (int seed = 0; seed < instances; ++seed) {
        auto const* const r = kept.find({name(kind), size, search, seed});
        if (r == nullptr) break;
        result.milliseconds.push_back(r->milliseconds);
        result.inserts += static_cast<double>(r->operations.inserts);
        result.erases += static_cast<double>(r->operations.erases);
        result.transfers += static_cast<double>(r->transfers);
    }
    return result;
}

/// Over the instances that all searches have.
void print_row(kept_runs const& kept, distribution kind, published const& row, int instances) {
    std::vector<column> columns;
    for (auto const* search : {linear, heaps, tree, sliced}) {
        columns.push_back(column_of(kept, kind, row.size, search, instances));
        instances = static_cast<int>(columns.back().milliseconds.size());
    }
    if (instances == 0) return;
    for (auto& c : columns) c.milliseconds.resize(static_cast<std::size_t>(instances));
    std::vector<statistics> times;
    for (auto const& c : columns) times.push_back(statistics_of(c.milliseconds));
    std::printf("| %s | %d | %d |", name(kind), row.size, instances);
    for (auto const& t : times) std::printf(" %.4g ± %.2g |", t.mean, t.deviation);
    std::printf(" %.2f | %.2f | %.2f | %.2f | %.2f |", times[0].mean / times[2].mean, row.linear(kind),
                times[1].mean / times[2].mean, row.heaps(kind), times[2].mean / times[3].mean);
    auto const counted = column_of(kept, kind, row.size, heaps, instances);
    double const cells = static_cast<double>(row.size) * row.size * row.size * instances;
    std::printf(" %.2f | %.2f | %.1f |\n", counted.inserts / cells, counted.erases / cells,
                times[3].mean * 1e6 * instances / columns[3].transfers);
}

} // namespace

void print_table_1(table_1_settings const& s) {
    kept_runs kept(s.keep);
    for (auto const& row : published_rows) {
        if (row.size > s.largest) break;
        for (int seed = 0; seed < s.instances; ++seed)
            for (auto const kind : {distribution::uniform, distribution::skewed}) {
                auto const drawn = draw_instance(kind, row.size, static_cast<unsigned>(seed));
                for (auto const* search : {linear, heaps, tree, sliced})
                    if (kept_runs::key const k{name(kind), row.size, search, seed}; kept.find(k) == nullptr)
                        kept.add(k, measure(runner(search), drawn));
                show_progress(static_cast<std::size_t>(seed), static_cast<std::size_t>(s.instances),
                              "P = N = " + std::to_string(row.size));
            }
    }
    std::printf(
        "Processor time per schedule in ms, mean ± σ; heap operations in P·N²; the last column: ns per "
        "transfer\nof %s\n\n| instances | P = N | n | linear | pairing heaps | segment tree | sliced "
        "counters | linear ÷ tree | paper | heaps ÷ tree | paper | tree ÷ sliced | inserts | erases | "
        "sliced, ns |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        sliced);
    for (auto const kind : {distribution::uniform, distribution::skewed})
        for (auto const& row : published_rows) print_row(kept, kind, row, s.instances);
}

} // namespace bench
