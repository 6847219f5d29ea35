// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// The mini-benchmark of Proficz, All-gather algorithms resilient to imbalanced process arrival patterns
// (2021, section 4.1): each rank computes (sleeps) for a time of its own, then gathers; how long are the
// ranks in the call on average? Sizes are those of the gathered data, as in its tables 3 and 4, whose form
// the last tables have. Arrivals are known to the algorithms that use them, exactly or wrong on purpose.
#include <papcoll/analysis/metrics.hpp>

#include <CLI/CLI.hpp>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/all_gather_algorithms.hpp"
#include "support/report.hpp"

namespace bench {
namespace {

struct settings {
    std::vector<std::size_t> sizes{256};
    std::vector<double> delays{0, 1, 5, 10, 50, 100};
    std::vector<std::string> algorithms{"NEX", "LNBC", "RING", "circulant", "native", "BSLB", "BDR", "BCIRC"};
    std::string rate;
    std::string predictions = "right";
    double computation = 20;
    double margin = 1.1;
    int iterations = 5;
    int segments = 0;
    std::uint64_t seed = 1;
    bool in_block_times = false;
    bool one_late = false;
};

auto parse(int argc, char** argv, settings& s) -> std::optional<int> {
    CLI::App app{"All-gathers among ranks that arrive late"};
    std::string names;
    for (auto const& a : gather_algorithms()) names += (names.empty() ? "" : ", ") + a.name;
    app.add_option("--sizes", s.sizes, "gathered data in K floats")->delimiter(',')->capture_default_str();
    app.add_option("--delays", s.delays, "the most that a rank is late, in ms")
        ->delimiter(',')
        ->capture_default_str();
    app.add_flag("--in-block-times", s.in_block_times, "delays count in times of one rank's part instead");
    app.add_flag("--one-late", s.one_late, "only rank P/3 is late, by all of the delay; else uniform delays");
    app.add_option("--algorithms", s.algorithms, names)->delimiter(',');
    app.add_option("--predictions", s.predictions, "what the algorithms are told")
        ->check(CLI::IsMember({"right", "reversed", "random", "constant"}))
        ->capture_default_str();
    app.add_option("--computation", s.computation, "of the first rank, in ms")->capture_default_str();
    app.add_option("--margin", s.margin, "by which the block time that is told exceeds the link's")
        ->capture_default_str();
    app.add_option("--rate", s.rate, "of a link, such as 100mbit; default: as papcoll measures it");
    app.add_option("--segments", s.segments, "of BCIRC; default: its own choice")->check(CLI::PositiveNumber);
    app.add_option("--iterations", s.iterations)->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--seed", s.seed)->capture_default_str();
    try {
        app.parse(argc, argv);
    } catch (CLI::ParseError const& error) {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        return rank == 0 ? app.exit(error) : error.get_exit_code();
    }
    return std::nullopt;
}

struct spread {
    double mean = 0;
    double deviation = 0;
};
auto spread_of(std::vector<double> const& values) -> spread {
    spread s;
    for (auto const v : values) s.mean += v / static_cast<double>(values.size());
    for (auto const v : values) s.deviation += (v - s.mean) * (v - s.mean);
    s.deviation = std::sqrt(s.deviation / static_cast<double>(values.size()));
    return s;
}
auto median_of(std::vector<double> values) -> double {
    std::sort(values.begin(), values.end());
    return values[(values.size() - 1) / 2];
}

/// Over the iterations, in ms.
struct results_of_one {
    std::vector<double> elapsed, run, last, model;
};

class program {
public:
    explicit program(settings s)
        : m_settings(std::move(s)) {
        MPI_Comm_rank(m_comm, &m_rank);
        MPI_Comm_size(m_comm, &m_ranks);
        for (auto const& name : m_settings.algorithms) m_algorithms.push_back(named(name));
        papcoll::attach(m_comm);
        m_link = papcoll::context_of(m_comm)->link();
        if (!m_settings.rate.empty())
            m_link.per_byte =
                static_cast<double>(parse_rate(m_settings.rate).time_of(1'000'000).count()) / 1e6;
    }

    void run() {
        if (m_rank == 0) print_conditions();
        for (auto const size : m_settings.sizes)
            for (auto const delay : m_settings.delays) run_case(size, delay);
        if (m_rank == 0) print_winners();
        report_lateness(m_comm);
    }

private:
    struct cell {
        std::string winner;
        double factor;
    };

    static auto named(std::string const& name) -> gather_algorithm {
        for (auto const& a : gather_algorithms())
            if (a.name == name) return a;
        throw std::invalid_argument("no algorithm " + name);
    }

    void print_conditions() const {
        char version[MPI_MAX_LIBRARY_VERSION_STRING];
        int length = 0;
        MPI_Get_library_version(version, &length);
        std::string const text(version, static_cast<std::size_t>(length));
        std::printf("# %s, %d ranks, seed %llu, %d iterations, %s, predictions: %s\n",
                    text.substr(0, text.find_first_of(",\n")).c_str(), m_ranks,
                    static_cast<unsigned long long>(m_settings.seed), m_settings.iterations,
                    m_settings.one_late ? "one rank late" : "uniform delays", m_settings.predictions.c_str());
        std::printf("# link: latency %.0f us, %.1f ns per KB (%s)\n\n",
                    static_cast<double>(m_link.latency.count()) * 1e-3, m_link.per_byte * 1e3,
                    m_settings.rate.empty() ? "measured" : m_settings.rate.c_str());
    }

    [[nodiscard]] auto part_time(std::size_t part) const -> ticks {
        return ticks{std::llround(static_cast<double>(part * sizeof(float)) * m_link.per_byte)};
    }
    [[nodiscard]] auto arrivals(double most_ms, std::mt19937_64& random) const -> std::vector<ticks> {
        auto const first = static_cast<ticks::rep>(m_settings.computation * 1e6);
        std::vector<ticks> times(static_cast<std::size_t>(m_ranks), ticks{first});
        std::uniform_int_distribution<ticks::rep> delay(0, static_cast<ticks::rep>(most_ms * 1e6));
        if (m_settings.one_late)
            times[times.size() / 3] += ticks{delay.max()};
        else
            for (auto& t : times) t += ticks{delay(random)};
        return times;
    }
    [[nodiscard]] auto predicted(std::vector<ticks> times, std::mt19937_64& random) const
        -> std::vector<ticks> {
        auto const [least, most] = std::minmax_element(times.begin(), times.end());
        auto const sum = *least + *most;
        if (m_settings.predictions == "reversed")
            for (auto& t : times) t = sum - t;
        else if (m_settings.predictions == "random")
            std::shuffle(times.begin(), times.end(), random);
        else if (m_settings.predictions == "constant")
            times.assign(times.size(), *least);
        return times;
    }

    void run_case(std::size_t kilo, double delay) {
        std::size_t const part = kilo * 1024 / static_cast<std::size_t>(m_ranks);
        double const tau = milliseconds(part_time(part));
        double const most_ms = m_settings.in_block_times ? delay * tau : delay;
        std::mt19937_64 random(m_settings.seed);
        std::map<std::string, results_of_one> all;
        for (int i = -1; i < m_settings.iterations; ++i) { // the first one is not counted
            auto const times = arrivals(most_ms, random);
            auto const told = predicted(times, random);
            for (std::size_t k = 0; k < m_algorithms.size(); ++k) {
                auto const n = static_cast<std::size_t>(i + 1);
                auto const& a = m_algorithms[(k + n) % m_algorithms.size()];
                iterate(a, part, times, told, i >= 0 ? &all[a.name] : nullptr);
            }
        }
        if (m_rank == 0) report(kilo, delay, most_ms, tau, all);
    }

    void iterate(gather_algorithm const& a, std::size_t part, std::vector<ticks> const& times,
                 std::vector<ticks> const& told, results_of_one* results) {
        std::vector<float> in(part), out(part * static_cast<std::size_t>(m_ranks), -1);
        for (std::size_t i = 0; i < part; ++i) in[i] = value(m_rank, i);
        // A busy machine may measure a link on which bytes cost nothing.
        auto const block_time = std::max(
            ticks{std::llround(m_settings.margin * static_cast<double>(part_time(part).count()))}, ticks{1});
        auto const start = agree_on_start(m_comm);
        wait_until(start);
        auto const mine = a.run({m_comm, in, out, times, told, block_time,
                                 m_settings.segments > 0 ? std::optional(m_settings.segments) : std::nullopt,
                                 start, m_rank});
        check(a, part, out);

        std::array<std::int64_t, 2> const sent{(mine.arrival - start).count(), (mine.exit - start).count()};
        std::vector<std::int64_t> received(2 * times.size());
        MPI_Gather(sent.data(), 2, MPI_INT64_T, received.data(), 2, MPI_INT64_T, 0, m_comm);
        if (m_rank != 0 || results == nullptr) return;
        std::vector<ticks> entered, left;
        for (std::size_t r = 0; r < times.size(); ++r) {
            entered.emplace_back(received[2 * r]);
            left.emplace_back(received[2 * r + 1]);
        }
        results->elapsed.push_back(milliseconds(papcoll::mean_elapsed(entered, left)));
        results->run.push_back(milliseconds(papcoll::run_time(entered, left)));
        results->last.push_back(milliseconds(papcoll::last_delay(entered, left)));
        auto const exits =
            model_exits(a.name, times, part * sizeof(float), block_time, m_settings.segments, m_link);
        if (!exits.empty()) results->model.push_back(milliseconds(papcoll::mean_elapsed(times, exits)));
    }
    static auto value(int rank, std::size_t i) -> float {
        return static_cast<float>(rank * 1000) + static_cast<float>(i % 997);
    }
    void check(gather_algorithm const& a, std::size_t part, std::vector<float> const& out) const {
        for (std::size_t r = 0; r < static_cast<std::size_t>(m_ranks); ++r)
            for (std::size_t i = 0; i < part; ++i)
                if (!(out[r * part + i] == value(static_cast<int>(r), i)))
                    throw std::runtime_error("the result of " + a.name + " is wrong");
    }

    void report(std::size_t kilo, double delay, double most_ms, double tau,
                std::map<std::string, results_of_one> const& all) {
        std::printf("%zu K floats, parts of %zu KiB (tau %.1f ms), delays up to %.1f ms = %.1f tau\n", kilo,
                    kilo * 4 / static_cast<std::size_t>(m_ranks), tau, most_ms, most_ms / tau);
        std::printf("%-15s %9s %8s %8s %9s %9s %10s %10s\n", "", "elapsed", "mean", "+-", "model", "run time",
                    "last delay", "in tau");
        std::map<std::string, double> elapsed;
        for (auto const& a : m_algorithms) {
            auto const& r = all.at(a.name);
            auto const e = spread_of(r.elapsed);
            elapsed[a.name] = median_of(r.elapsed);
            double const last = median_of(r.last);
            std::printf("%-15s %9.2f %8.2f %8.2f %9.2f %9.2f %10.2f %10.2f\n", a.name.c_str(),
                        elapsed[a.name], e.mean, e.deviation, r.model.empty() ? 0.0 : spread_of(r.model).mean,
                        median_of(r.run), last, last / tau);
        }
        auto const papers = choose(elapsed, {"NEX", "LNBC", "RING"}, {"BSLB", "BDR"});
        auto const ours =
            choose(elapsed, {"NEX", "LNBC", "RING", "circulant", "native"}, {"BSLB", "BDR", "BCIRC"});
        m_papers[kilo][delay] = papers;
        m_ours[kilo][delay] = ours;
        for (auto const* name : {"BSLB", "BDR", "BCIRC"})
            if (elapsed.count(name) != 0)
                std::printf("best of NEX, LNBC, RING / %s: %.2f\n", name,
                            best(elapsed, {"NEX", "LNBC", "RING"}).second / elapsed[name]);
        std::printf("\n");
        std::fflush(stdout);
    }

    using times_by_name = std::map<std::string, double>;
    static auto best(times_by_name const& elapsed, std::vector<std::string> const& names)
        -> std::pair<std::string, double> {
        std::pair<std::string, double> found{"-", INFINITY};
        for (auto const& name : names)
            if (auto const t = elapsed.find(name); t != elapsed.end() && t->second < found.second) found = *t;
        return found;
    }
    /// The winner; the factor counts where it is not a regular algorithm.
    static auto choose(times_by_name const& elapsed, std::vector<std::string> const& regular,
                       std::vector<std::string> const& aware) -> cell {
        auto const plain = best(elapsed, regular);
        auto const informed = best(elapsed, aware);
        if (informed.second < plain.second) return {informed.first, plain.second / informed.second};
        return {plain.first, 1};
    }
    void print_table(char const* title, std::map<std::size_t, std::map<double, cell>> const& cells) const {
        std::printf("%s\n\n| size | ", title);
        for (auto const delay : m_settings.delays) std::printf("%g | ", delay);
        std::printf("\n|---|");
        for (std::size_t i = 0; i < m_settings.delays.size(); ++i) std::printf("---|");
        for (auto const& [size, row] : cells) {
            std::printf("\n| %zu | ", size);
            for (auto const delay : m_settings.delays) {
                auto const& c = row.at(delay);
                if (c.factor > 1)
                    std::printf("%s %.2f | ", c.winner.c_str(), c.factor);
                else
                    std::printf("%s | ", c.winner.c_str());
            }
        }
        std::printf("\n\n");
    }
    void print_winners() const {
        auto const unit = m_settings.in_block_times ? "tau" : "ms";
        std::printf(
            "Winners and how much faster than the best regular one; sizes in K floats, delays in %s\n\n",
            unit);
        print_table("Among the paper's five:", m_papers);
        print_table("Among all:", m_ours);
    }

    settings m_settings;
    MPI_Comm m_comm = MPI_COMM_WORLD;
    int m_rank = 0;
    int m_ranks = 1;
    papcoll::link_model m_link;
    std::vector<gather_algorithm> m_algorithms;
    std::map<std::size_t, std::map<double, cell>> m_papers, m_ours;
};

} // namespace
} // namespace bench

auto main(int argc, char** argv) -> int {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    int code = 0;
    try {
        bench::settings s;
        if (auto const parsed = bench::parse(argc, argv, s))
            code = *parsed;
        else
            bench::program(s).run();
    } catch (std::exception const& error) {
        std::fprintf(stderr, "all_gather_mini: %s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1); // the others may be inside an operation that this rank has left
    }
    MPI_Finalize();
    return code;
}
