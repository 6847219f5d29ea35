// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// The mini-benchmark of Proficz and Ocetkiewicz, Improving Clairvoyant (2020, section 6): each rank computes
// (or sleeps) for a time of its own, reporting its progress to papcoll's arrival monitor, then all reduce.
// Every iteration draws new delays, the same for all algorithms; the first report comes at half of a rank's
// work, and the two halves vary independently, so the monitor's predictions are as wrong as they should be.
#include <CLI/CLI.hpp>
#include <mpi.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/reduce_mini_case.hpp"
#include "support/reduce_mini_model.hpp"
#include "support/report.hpp"

namespace bench {
namespace {

struct settings {
    std::string operation = "reduce";
    std::vector<std::string> algorithms;
    std::vector<std::size_t> sizes{16384, 131072, 1048576};
    std::vector<double> delays{0, 50, 100};
    mini_settings mini;
    std::string pattern = "random";
    std::string rate;
    std::string json;
    bool in_bounds = false;
    bool check = false;
    int model = 0;
    double latency_us = 100;
};

auto parse(int argc, char** argv, settings& s) -> std::optional<int> {
    CLI::App app{"Reductions among ranks that arrive late, and predict it"};
    app.add_option("--operation", s.operation)
        ->check(CLI::IsMember({"reduce", "all_reduce"}))
        ->capture_default_str();
    app.add_option(
           "--algorithms", s.algorithms,
           "reduce: MPI, BNOM, RAB, RXK, RING, circulant, greedy_tree, CLV, arrival_tree; all_reduce: MPI, "
           "circulant, aware. CLV, arrival_tree and aware are told what the monitor predicts, or after a "
           "colon: true, blind (nothing), reversed, random, constant, silent (the last rank reports nothing "
           "to the monitor). Default: all but arrival_tree, CLV:true and aware:true, too")
        ->delimiter(',');
    app.add_option("--sizes", s.sizes, "numbers of floats")->delimiter(',')->capture_default_str();
    app.add_option("--delays", s.delays, "the most that a rank is late, in ms")
        ->delimiter(',')
        ->capture_default_str();
    app.add_flag("--in-bounds", s.in_bounds, "delays count in times of the data on one link (--rate)");
    app.add_option("--pattern", s.pattern, "of the delays: random, ascending, ...: the shapes of papcoll")
        ->capture_default_str();
    app.add_option("--delayed-ranks", s.mini.delayed_ranks, "how many are late, drawn anew each time; 0: all")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_option("--computation", s.mini.computation_ms, "of a rank without delay, in ms")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--noise", s.mini.noise, "standard deviation of each half of a computation")
        ->check(CLI::Range(0.0, 0.2))
        ->capture_default_str();
    app.add_option_function<std::string>(
           "--predictor", [&s](std::string const& name) { s.mini.reports_alone = name == "reports"; },
           "reports (default): from the report of this iteration; papcoll: the monitor's own default, which "
           "also looks at the iterations before")
        ->check(CLI::IsMember({"reports", "papcoll"}));
    app.add_flag("--work", s.mini.work, "compute really; default: sleep");
    app.add_option("--iterations", s.mini.iterations)->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--seed", s.mini.seed)->capture_default_str();
    app.add_option("--root", s.mini.root)->check(CLI::NonNegativeNumber)->capture_default_str();
    app.add_option("--segments", s.mini.segments, "of Clairvoyant; 0: its own choice")->capture_default_str();
    app.add_option("--rate", s.rate, "of a link, such as 100mbit: gives the link bound");
    app.add_option("--json", s.json, "write all rows to this file, too");
    app.add_flag("--check", s.check,
                 "no measurement: every algorithm on the first 1, 2, … ranks, every root");
    app.add_option(
           "--model", s.model,
           "no measurement: so many iterations of CLV in the one-ported model, on the links of --rate")
        ->check(CLI::PositiveNumber);
    app.add_option("--latency-us", s.latency_us, "of a message in the model")->capture_default_str();
    try {
        app.parse(argc, argv);
    } catch (CLI::ParseError const& error) {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        return rank == 0 ? app.exit(error) : error.get_exit_code();
    }
    return std::nullopt;
}

class program {
public:
    explicit program(settings s)
        : m_settings(std::move(s)) {
        MPI_Comm_rank(m_comm, &m_rank);
        MPI_Comm_size(m_comm, &m_ranks);
        if (!m_settings.rate.empty()) m_rate = parse_rate(m_settings.rate);
        if (m_settings.in_bounds && !m_rate) throw std::invalid_argument("--in-bounds needs --rate");
        auto const shape = papcoll::arrival_shape_of(m_settings.pattern);
        if (!shape) throw std::invalid_argument("no pattern " + m_settings.pattern);
        m_settings.mini.shape = *shape;
        if (m_settings.algorithms.empty())
            m_settings.algorithms =
                m_settings.operation == "reduce"
                    ? std::vector<std::string>{"MPI",       "BNOM",        "RAB", "RXK",     "RING",
                                               "circulant", "greedy_tree", "CLV", "CLV:true"}
                    : std::vector<std::string>{"MPI", "circulant", "aware", "aware:true"};
        for (auto const& name : m_settings.algorithms)
            m_contestants.push_back(contestant_named(name, known_algorithms()));
        papcoll::attach(m_comm);
    }

    void run() {
        if (m_settings.check) return check_all();
        if (m_rank == 0) print_conditions();
        if (m_settings.model > 0) return model_all();
        mini_benchmark mini(m_comm, m_settings.mini, m_contestants, m_settings.operation == "all_reduce");
        for (auto const size : m_settings.sizes)
            for (auto const delay : m_settings.delays) {
                double const ms = m_settings.in_bounds ? delay * milliseconds(bound(size)) : delay;
                auto const measured = mini.run(size, ticks{static_cast<ticks::rep>(ms * 1e6)});
                if (m_rank == 0) report(size, ms, measured);
            }
        report_lateness(m_comm);
        if (m_rank == 0 && !m_settings.json.empty()) write_json(m_settings.json, m_document);
    }

private:
    [[nodiscard]] auto known_algorithms() const -> std::vector<reduction_algorithm> {
        return m_settings.operation == "reduce" ? reductions() : all_reductions();
    }
    [[nodiscard]] auto bound(std::size_t size) const -> ticks {
        if (!m_rate) return ticks{0};
        auto const all = size * sizeof(float);
        auto const p = static_cast<std::size_t>(m_ranks);
        return m_rate->time_of(m_settings.operation == "reduce" ? all : 2 * (all - all / p));
    }

    /// Every algorithm, on groups of the first ranks, with every root, and sizes around their number.
    void check_all() {
        for (int p = 1; p <= m_ranks; ++p) {
            MPI_Comm group = MPI_COMM_NULL;
            MPI_Comm_split(m_comm, m_rank < p ? 0 : MPI_UNDEFINED, m_rank, &group);
            if (group == MPI_COMM_NULL) continue;
            auto const ranks = static_cast<std::size_t>(p);
            for (auto const& algorithm : known_algorithms())
                for (int root = 0; root < p; ++root)
                    for (auto const n : {std::size_t{0}, std::size_t{1}, ranks - 1, ranks, 5 * ranks + 3})
                        check(group, algorithm, root, n, p);
            MPI_Comm_free(&group);
        }
        MPI_Barrier(m_comm);
        if (m_rank == 0) std::printf("all algorithms are right on 1 to %d ranks\n", m_ranks);
    }
    void check(MPI_Comm group, reduction_algorithm const& algorithm, int root, std::size_t n, int p) const {
        auto const in = values_of(m_rank, n);
        std::vector<float> out(n, -1);
        std::vector<ticks> arrivals;
        for (int r = 0; r < p; ++r) arrivals.emplace_back((r * 5 + root) % p * 100'000);
        algorithm.run({group, root, in, out, arrivals, std::nullopt});
        bool const has_result = m_settings.operation == "all_reduce" || m_rank == root;
        if (has_result && out != sums_of(p, n))
            throw std::runtime_error(algorithm.name + " is wrong with " + std::to_string(p) +
                                     " ranks, root " + std::to_string(root) + ", " + std::to_string(n) +
                                     " elements");
    }

    /// Predictions are those of a monitor that goes by the report: twice the first half.
    void model_all() const {
        if (m_rank != 0) return;
        auto const& mini = m_settings.mini;
        auto link = papcoll::context_of(m_comm)->link();
        link.latency = ticks{std::llround(m_settings.latency_us * 1e3)};
        if (m_rate) link.per_byte = static_cast<double>(m_rate->time_of(1'000'000).count()) / 1e6;
        std::printf(
            "Last delay of CLV in the model, ms: arrivals true, predicted, unknown; predicted ÷ true\n"
            "%9s %8s %9s %9s %9s %9s %9s %9s\n",
            "floats", "delays", "true", "predicted", "unknown", "median ÷", "p90 ÷", "largest ÷");
        for (auto const size : m_settings.sizes)
            for (auto const delay : m_settings.delays) {
                double const ms = m_settings.in_bounds ? delay * milliseconds(bound(size)) : delay;
                std::mt19937_64 random(mini.seed);
                std::vector<double> with_true, predicted, blind, ratios;
                for (int i = 0; i < m_settings.model; ++i) {
                    std::vector<ticks> arrivals, expected;
                    for (auto const& c :
                         draw_computations(mini, m_ranks, ticks{static_cast<ticks::rep>(ms * 1e6)}, random)) {
                        arrivals.push_back(c.all());
                        expected.push_back(2 * c.first_half);
                    }
                    auto const last_delay = [&](papcoll::arrival_source told) {
                        papcoll::clairvoyant policy{.arrivals = std::move(told)};
                        if (mini.segments > 0) policy.segments = mini.segments;
                        return milliseconds(modelled_last_delay(policy, size, mini.root, arrivals, link));
                    };
                    with_true.push_back(last_delay(arrivals));
                    predicted.push_back(last_delay(expected));
                    blind.push_back(last_delay({}));
                    ratios.push_back(predicted.back() / with_true.back());
                }
                std::printf("%9zu %8.1f %9.2f %9.2f %9.2f %9.2f %9.2f %9.2f\n", size, ms,
                            quantile(with_true, 0.5), quantile(predicted, 0.5), quantile(blind, 0.5),
                            quantile(ratios, 0.5), quantile(ratios, 0.9), quantile(ratios, 1));
            }
    }

    void print_conditions() {
        char text[MPI_MAX_LIBRARY_VERSION_STRING];
        int length = 0;
        MPI_Get_library_version(text, &length);
        std::string version(text, static_cast<std::size_t>(length));
        version = version.substr(0, version.find_first_of(",\n"));
        auto const& mini = m_settings.mini;
        auto const& link = papcoll::context_of(m_comm)->link();
        std::printf("# %s of %s, %d ranks, root %d, pattern %s, %d delayed, seed %llu, %d iterations\n",
                    m_settings.operation.c_str(), version.c_str(), m_ranks, mini.root,
                    m_settings.pattern.c_str(), mini.delayed_ranks > 0 ? mini.delayed_ranks : m_ranks,
                    static_cast<unsigned long long>(mini.seed), mini.iterations);
        std::printf("# %s of %.0f ms and the delay, each half varying by %.0f %%; report at the half, "
                    "predictor: %s\n",
                    mini.work ? "work" : "sleep", mini.computation_ms, 100 * mini.noise,
                    mini.reports_alone ? "reports" : "papcoll");
        std::printf("# link measured by papcoll: latency %.0f us, %.1f ns per KB; rate given: %s\n\n",
                    static_cast<double>(link.latency.count()) * 1e-3, link.per_byte * 1e3,
                    m_settings.rate.empty() ? "none" : m_settings.rate.c_str());
        m_document = {{"operation", m_settings.operation},
                      {"mpi", version},
                      {"ranks", m_ranks},
                      {"root", mini.root},
                      {"pattern", m_settings.pattern},
                      {"delayed_ranks", mini.delayed_ranks},
                      {"seed", mini.seed},
                      {"iterations", mini.iterations},
                      {"computation_ms", mini.computation_ms},
                      {"noise", mini.noise},
                      {"work", mini.work},
                      {"predictor", mini.reports_alone ? "reports" : "papcoll"},
                      {"rate", m_settings.rate},
                      {"rows", nlohmann::json::array()}};
    }

    void report(std::size_t size, double delay_ms, std::vector<mini_result> const& measured) {
        auto const least = bound(size);
        std::printf("%zu floats, delays up to %.0f ms", size, delay_ms);
        if (least > ticks{0}) std::printf(", link bound %.1f ms", milliseconds(least));
        std::printf("\n%-18s %9s %8s %9s %8s %8s %8s %9s %9s %9s %8s %8s\n", "", "run time", "+-", "last",
                    "p10", "p90", "÷ bound", "elapsed", "mean", "+-", "÷ true", "wrong by");
        auto const with_true = true_delays(measured);
        for (auto const& m : measured) {
            auto const run = spread_of(m, &repetition::run_time),
                       last = spread_of(m, &repetition::last_delay),
                       elapsed = spread_of(m, &repetition::mean_elapsed);
            auto const found = with_true.find(m.base_name);
            auto const than_true = paired_ratio(m, found == with_true.end() ? nullptr : found->second);
            std::printf("%-18s %9.2f %8.2f %9.2f %8.2f %8.2f %8s %9.2f %9.2f %9.2f %8s %8s\n", m.name.c_str(),
                        run.mean, run.deviation, last.median, last.low, last.high,
                        least > ticks{0} ? text(last.median / milliseconds(least)).c_str() : "-",
                        elapsed.median, elapsed.mean, elapsed.deviation,
                        than_true ? text(*than_true).c_str() : "-",
                        m.prediction_errors.empty() ? "-" : text(mean(m.prediction_errors)).c_str());
            nlohmann::json row{{"algorithm", m.name},
                               {"elements", size},
                               {"delay_ms", delay_ms},
                               {"run_time_ms", in_json(run)},
                               {"last_delay_ms", in_json(last)},
                               {"mean_elapsed_ms", in_json(elapsed)}};
            if (least > ticks{0}) row["bound_ms"] = milliseconds(least);
            if (than_true) row["last_delay_to_true"] = *than_true;
            if (!m.prediction_errors.empty()) row["prediction_error_ms"] = mean(m.prediction_errors);
            auto const shown = typical(m.runs);
            row["arrivals_ms"] = in_json(shown.arrivals);
            row["exits_ms"] = in_json(shown.exits);
            m_document["rows"].push_back(row);
        }
        std::printf("\n");
        std::fflush(stdout);
    }
    static auto text(double value) -> std::string {
        char chars[32];
        std::snprintf(chars, sizeof chars, "%.2f", value);
        return chars;
    }
    static auto in_json(std::vector<ticks> const& times) -> nlohmann::json { return bench::in_json(times); }
    static auto in_json(spread const& s) -> nlohmann::json {
        return {{"mean", s.mean},
                {"deviation", s.deviation},
                {"median", s.median},
                {"p10", s.low},
                {"p90", s.high}};
    }

    settings m_settings;
    MPI_Comm m_comm = MPI_COMM_WORLD;
    int m_rank = 0;
    int m_ranks = 1;
    std::optional<link_rate> m_rate;
    std::vector<contestant> m_contestants;
    nlohmann::json m_document;
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
        std::fprintf(stderr, "reduce_mini: %s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1); // the others may be inside an operation that this rank has left
    }
    MPI_Finalize();
    return code;
}
