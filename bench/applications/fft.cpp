// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// A 3-D FFT in steps of time with the structure of NAS FT: initialise, forward, then evolve, inverse and
// checksum again and again; one transposition by all-to-all in each. Run time by algorithm of the all-to-all
// and by imbalance.
#include <papcoll/arrival/pattern_file.hpp>
#include <papcoll/arrival/patterns.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spectral_grid.hpp"

namespace bench {
namespace {

struct settings {
    std::vector<std::string> algorithms{"native"};
    std::vector<std::size_t> grid{64, 64, 64};
    int iterations = 10;
    int repetitions = 1;
    std::vector<std::string> shapes;
    double magnitude = 1;
    std::optional<double> magnitude_ms;
    std::string arrivals_file;
    std::uint64_t seed = 1;
    bool verify = false;
};

auto parse(int argc, char** argv, settings& s) -> std::optional<int> {
    CLI::App app{"A 3-D FFT whose transposes are all-to-alls"};
    app.add_option("--all-to-all", s.algorithms,
                   "native, linear, pairwise, bruck, linear_sync[:WINDOW]; several in turn")
        ->delimiter(',')
        ->capture_default_str();
    app.add_option("--grid", s.grid, "points along x, y and z; the ranks divide y and z")
        ->delimiter(',')
        ->expected(3)
        ->capture_default_str();
    app.add_option("--iterations", s.iterations)->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--repetitions", s.repetitions, "of the whole run")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--imbalance", s.shapes,
                   "shapes of papcoll/arrival/patterns.hpp: how much longer ranks compute in each iteration; "
                   "no_delay is always there")
        ->delimiter(',');
    app.add_option("--magnitude", s.magnitude, "of shapes, in balanced times of one transposition")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_option("--magnitude-ms", s.magnitude_ms, "of shapes, in milliseconds")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--arrivals", s.arrivals_file, "a file of arrivals, as one more imbalance");
    app.add_option("--seed", s.seed, "of the random shape")->capture_default_str();
    app.add_flag("--verify", s.verify, "compare all checksums with those of one rank alone");
    try {
        app.parse(argc, argv);
    } catch (CLI::ParseError const& error) {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        return rank == 0 ? app.exit(error) : error.get_exit_code();
    }
    return std::nullopt;
}

/// Of one whole run.
struct run_times {
    ticks total{0};              ///< of the slowest rank
    ticks transposes{0};         ///< the mean over the ranks
    ticks longest_transposes{0}; ///< of the rank that spent most in them
};

auto milliseconds(ticks t) -> double { return static_cast<double>(t.count()) * 1e-6; }

template <class Time>
auto median(std::vector<run_times> runs, Time time) -> ticks {
    std::sort(runs.begin(), runs.end(), [&](auto const& a, auto const& b) { return a.*time < b.*time; });
    return runs[(runs.size() - 1) / 2].*time;
}

class program {
public:
    explicit program(settings s)
        : m_settings(std::move(s))
        , m_size{m_settings.grid[0], m_settings.grid[1], m_settings.grid[2]}
        , m_grid(m_comm, m_size)
        , m_transpose(m_comm) {
        MPI_Comm_rank(m_comm, &m_rank);
        MPI_Comm_size(m_comm, &m_ranks);
        for (auto const& name : m_settings.algorithms) m_transpose.choose(name);
        for (auto const& name : m_settings.shapes)
            if (!papcoll::arrival_shape_of(name)) throw std::invalid_argument("no imbalance " + name);
        if (m_settings.verify) m_expected = serial_checksums(m_size, m_settings.iterations);
    }

    void run() {
        if (m_rank == 0)
            std::printf(
                "# %d ranks, grid %zu x %zu x %zu, blocks of %zu bytes, %d iterations, %d repetitions, "
                "checksums %s\n%-14s %-14s %10s %12s %14s %16s\n",
                m_ranks, m_size.x, m_size.y, m_size.z, m_grid.block() * sizeof(value), m_settings.iterations,
                m_settings.repetitions,
                m_settings.verify ? "compared with one rank's" : "equal for all algorithms", "imbalance",
                "all-to-all", "run ms", "least..most", "transposes ms", "longest rank's");
        (void)measure("no_delay", std::vector<ticks>(static_cast<std::size_t>(m_ranks)), 0);
        for (auto const& c : cases(measure("no_delay", std::vector<ticks>(static_cast<std::size_t>(m_ranks)),
                                           m_settings.repetitions)))
            (void)measure(c.first, c.second, m_settings.repetitions);
        if (m_rank == 0)
            std::printf("checksum %.12e %.12e%s\n", m_last.real(), m_last.imag(),
                        m_settings.verify ? " verified" : "");
    }

private:
    using named_arrivals = std::pair<std::string, std::vector<ticks>>;

    auto cases(ticks balanced) const -> std::vector<named_arrivals> {
        std::vector<named_arrivals> all;
        auto const magnitude = m_settings.magnitude_ms
                                   ? ticks{static_cast<ticks::rep>(*m_settings.magnitude_ms * 1e6)}
                                   : ticks{static_cast<ticks::rep>(static_cast<double>(balanced.count()) *
                                                                   m_settings.magnitude)};
        if (m_rank == 0 && !m_settings.shapes.empty())
            std::printf("# magnitude %.3f ms in each iteration\n", milliseconds(magnitude));
        for (auto const& name : m_settings.shapes)
            if (auto const shape = *papcoll::arrival_shape_of(name);
                shape != papcoll::arrival_shape::no_delay)
                all.emplace_back(name, papcoll::arrival_pattern(shape, m_ranks, magnitude, m_settings.seed));
        if (!m_settings.arrivals_file.empty()) {
            auto times = papcoll::read_arrivals(m_settings.arrivals_file, m_ranks);
            auto const first = *std::min_element(times.begin(), times.end());
            for (auto& time : times) time -= first;
            all.emplace_back("file", std::move(times));
        }
        return all;
    }

    /// Runs all algorithms in turn and prints their rows; without repetitions once and unmeasured. The time
    /// of one transposition, the mean over ranks and algorithms, on all ranks.
    auto measure(std::string const& imbalance, std::vector<ticks> const& delays, int repetitions) -> ticks {
        std::map<std::string, std::vector<run_times>> runs;
        for (int i = 0; i < std::max(repetitions, 1); ++i)
            for (auto const& name : m_settings.algorithms) {
                m_transpose.choose(name);
                runs[name].push_back(run_once(delays[static_cast<std::size_t>(m_rank)]));
            }
        ticks sum{0};
        for (auto const& name : m_settings.algorithms) {
            auto const& of = runs.at(name);
            sum += median(of, &run_times::transposes);
            if (m_rank == 0 && repetitions > 0) print(imbalance, name, of);
        }
        return sum / static_cast<ticks::rep>(m_settings.algorithms.size()) / (m_settings.iterations + 1);
    }
    static void print(std::string const& imbalance, std::string const& name,
                      std::vector<run_times> const& of) {
        auto const [least, most] = std::minmax_element(
            of.begin(), of.end(), [](auto const& a, auto const& b) { return a.total < b.total; });
        std::printf("%-14s %-14s %10.1f %5.0f..%-5.0f %14.1f %16.1f\n", imbalance.c_str(), name.c_str(),
                    milliseconds(median(of, &run_times::total)), milliseconds(least->total),
                    milliseconds(most->total), milliseconds(median(of, &run_times::transposes)),
                    milliseconds(median(of, &run_times::longest_transposes)));
        std::fflush(stdout);
    }

    /// The whole application once; this rank computes `delay` longer in each iteration.
    auto run_once(ticks delay) -> run_times {
        std::vector<value> sums;
        m_grid.initialise();
        m_transpose.reset_time();
        MPI_Barrier(m_comm);
        auto const begin = now();
        m_grid.forward(m_transpose);
        for (int t = 0; t < m_settings.iterations; ++t) {
            m_grid.evolve();
            m_grid.inverse(m_transpose, [&] {
                if (delay > ticks{0}) wait_until(now() + delay);
            });
            sums.push_back(m_grid.checksum());
        }
        auto const end = now();
        check(sums);
        return times(end - begin, m_transpose.time());
    }
    auto times(ticks total, ticks transposes) const -> run_times {
        std::array<std::int64_t, 2> most{total.count(), transposes.count()};
        std::int64_t sum = transposes.count();
        MPI_Allreduce(MPI_IN_PLACE, most.data(), 2, MPI_INT64_T, MPI_MAX, m_comm);
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, m_comm);
        return {ticks{most[0]}, ticks{sum / m_ranks}, ticks{most[1]}};
    }
    void check(std::vector<value> const& sums) {
        // The first run stands for one rank alone where that was not computed.
        if (m_expected.empty()) m_expected = sums;
        for (std::size_t t = 0; t < sums.size(); ++t)
            if (!(std::abs(sums[t] - m_expected[t]) <= 1e-10 * std::abs(m_expected[t])))
                throw std::runtime_error("the checksum of iteration " + std::to_string(t + 1) + " is wrong");
        m_last = sums.back();
    }

    settings m_settings;
    MPI_Comm m_comm = MPI_COMM_WORLD;
    int m_rank = 0;
    int m_ranks = 1;
    grid_size m_size;
    spectral_grid m_grid;
    transposition m_transpose;
    std::vector<value> m_expected;
    value m_last = 0;
};

auto run(int argc, char** argv) -> int {
    settings s;
    if (auto const code = parse(argc, argv, s)) return *code;
    try {
        program(s).run();
    } catch (std::exception const& error) {
        // The other ranks may be inside an exchange that this one has left.
        std::fprintf(stderr, "fft: %s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return 0;
}

} // namespace
} // namespace bench

auto main(int argc, char** argv) -> int {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    int const code = bench::run(argc, argv);
    MPI_Finalize();
    return code;
}
