// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// Measures collectives under process arrival patterns: operation × policy × size × pattern × magnitude, on
// whatever ranks mpirun gives.
#include <papcoll/analysis.hpp>
#include <papcoll/arrival/pattern_file.hpp>
#include <papcoll/core.hpp>

#undef exit // a macro of SimGrid's smpicxx, and a member function of CLI11
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "support/measure.hpp"
#include "support/operations.hpp"
#include "support/report.hpp"
#include "support/start_together.hpp"

namespace bench {
namespace {

struct settings {
    std::string operation = "reduce";
    std::vector<std::string> policies;
    std::vector<std::size_t> sizes{131072, 1048576};
    std::vector<std::string> patterns;
    std::vector<double> factors{0.5, 1.0, 1.5};
    std::string base = "papcoll";
    std::string rate;
    std::string arrivals_file;
    std::string json;
    int repetitions = 5;
    int unmeasured = 1;
    std::uint64_t seed = 1;
    int root = 0;
    int segments = 0;
    std::size_t block_bytes = 0;
    double round_us = 0;
    bool balanced_only = false;
    bool patterns_only = false;
};

auto parse(int argc, char** argv, settings& s) -> std::optional<int> {
    CLI::App app{"Collectives under process arrival patterns"};
    std::string names;
    for (auto const& [name, maker] : operation_makers()) names += (names.empty() ? "" : ", ") + name;
    app.add_option("--operation", s.operation, names)->capture_default_str();
    app.add_option("--policies", s.policies,
                   "default: some of the operation; also those of PAPCOLL_<OPERATION>_ALGORITHM, automatic, "
                   "inative, and native:ALGORITHM (by its number with Open MPI and --mca "
                   "coll_tuned_use_dynamic_rules 1, by its name under SimGrid)")
        ->delimiter(',');
    app.add_option("--sizes", s.sizes, "numbers of floats")->delimiter(',')->capture_default_str();
    app.add_option("--patterns", s.patterns, "default: all; the balanced row is always there")
        ->delimiter(',');
    app.add_flag("--balanced-only", s.balanced_only, "no patterns");
    app.add_flag("--patterns-only", s.patterns_only, "no balanced row; --base must be milliseconds")
        ->excludes("--balanced-only");
    app.add_option("--magnitudes", s.factors, "multiples of the base time")
        ->delimiter(',')
        ->capture_default_str();
    app.add_option(
           "--base", s.base,
           "what magnitudes are multiples of: the balanced run time of this policy ('papcoll': of the first "
           "that "
           "is not native), 'mean' of all policies' balanced run times, 'bound', or a number of milliseconds")
        ->capture_default_str();
    app.add_option("--arrivals", s.arrivals_file, "a file of arrivals in place of patterns");
    app.add_option("--rate", s.rate, "of a link, such as 100mbit: gives the link bound");
    app.add_option("--repetitions", s.repetitions)->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--unmeasured", s.unmeasured,
                   "calls before each row; before the first of a size at least one")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_option("--seed", s.seed, "of the random pattern")->capture_default_str();
    app.add_option("--root", s.root)->check(CLI::NonNegativeNumber)->capture_default_str();
    app.add_option("--block-bytes", s.block_bytes, "of circulant; default: its own choice")
        ->check(CLI::PositiveNumber);
    app.add_option("--segments", s.segments, "of Clairvoyant; default: its own choice")
        ->check(CLI::PositiveNumber);
    app.add_option("--round-us", s.round_us, "round time of Clairvoyant; default: its own choice")
        ->check(CLI::PositiveNumber);
    app.add_option("--json", s.json, "write all rows to this file, too");
    try {
        app.parse(argc, argv);
    } catch (CLI::ParseError const& error) {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        return rank == 0 ? app.exit(error) : error.get_exit_code();
    }
    return std::nullopt;
}

auto library_version() -> std::string {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    std::string version(text, static_cast<std::size_t>(length));
    return version.substr(0, version.find_first_of(",\n"));
}

/// Arrivals of one group of rows.
struct arrival_case {
    std::string pattern;
    double factor = 0;
    ticks magnitude{0};
    std::vector<ticks> arrivals;
};

class program {
public:
    explicit program(settings s)
        : m_settings(std::move(s)) {
        MPI_Comm_rank(m_comm, &m_rank);
        MPI_Comm_size(m_comm, &m_ranks);
        if (!m_settings.rate.empty()) m_rate = parse_rate(m_settings.rate);
        for (auto const& name : m_settings.patterns)
            if (!papcoll::arrival_shape_of(name)) throw std::invalid_argument("no pattern " + name);
        papcoll::attach(m_comm);
    }

    void run() {
        if (m_rank == 0) print_conditions();
        for (auto const count : m_settings.sizes) run_size(count);
        report_lateness(m_comm);
        if (m_rank == 0 && !m_settings.json.empty()) write_json(m_settings.json, m_document);
    }

private:
    void run_size(std::size_t count) {
        call_options options{
            .count = count, .root = m_settings.root, .segments = {}, .round = {}, .block_bytes = {}};
        if (m_settings.block_bytes > 0) options.block_bytes = m_settings.block_bytes;
        if (m_settings.segments > 0) options.segments = m_settings.segments;
        if (m_settings.round_us > 0)
            options.round = ticks{static_cast<ticks::rep>(m_settings.round_us * 1e3)};
        auto const op = make_operation(m_settings.operation, m_comm, options);
        auto const policies = m_settings.policies.empty() ? op->policies() : m_settings.policies;

        arrival_case const balanced{"no_delay", 0, ticks{0},
                                    std::vector<ticks>(static_cast<std::size_t>(m_ranks))};
        m_first_case = true;
        auto const together = m_settings.patterns_only ? results() : run_case(*op, policies, count, balanced);
        if (m_settings.balanced_only) return;
        if (m_settings.base == "papcoll")
            for (auto const& policy : policies)
                if (policy != "native") {
                    m_settings.base = policy;
                    break;
                }
        auto const base = base_time(together, *op);
        for (auto const& c : cases(base)) (void)run_case(*op, policies, count, c);
    }

    auto run_case(operation& op, std::vector<std::string> const& policies, std::size_t count,
                  arrival_case const& c) -> results {
        int const unmeasured = std::max(m_settings.unmeasured, m_first_case ? 1 : 0);
        m_first_case = false;
        auto measured = measure(m_comm, op, policies, c.arrivals, m_settings.repetitions, unmeasured);
        if (m_rank != 0) return measured;
        auto const native = measured.find("native");
        for (auto const& policy : policies) {
            row r{.operation = m_settings.operation,
                  .policy = policy,
                  .count = count,
                  .pattern = c.pattern,
                  .factor = c.factor,
                  .magnitude = c.magnitude,
                  .planned = c.arrivals,
                  .runs = measured.at(policy)};
            if (native != measured.end())
                r.native_last_delay = summarise(native->second, &repetition::last_delay).median;
            r.facts = op.facts(policy, c.arrivals);
            if (m_rate) r.bound = m_rate->time_of(op.least_bytes());
            if (m_rate && r.facts)
                r.needed = r.facts->rounds_after_last_arrival * m_rate->time_of(r.facts->segment_bytes);
            m_table.print(r);
            m_document["rows"].push_back(in_json(r));
        }
        return measured;
    }

    /// Rank 0 has the times; it decides for all.
    auto base_time(results const& balanced, operation const& op) const -> ticks {
        std::int64_t base = -1;
        if (m_rank == 0) {
            auto const median = [](auto const& runs) {
                return summarise(runs, &repetition::run_time).median.count();
            };
            if (auto const found = balanced.find(m_settings.base); found != balanced.end()) {
                base = median(found->second);
            } else if (m_settings.base == "mean" && !balanced.empty()) {
                base = 0;
                for (auto const& [policy, runs] : balanced) base += median(runs);
                base /= static_cast<std::int64_t>(balanced.size());
            } else if (m_settings.base == "bound" && m_rate) {
                base = m_rate->time_of(op.least_bytes()).count();
            } else {
                base = given_base();
            }
        }
        MPI_Bcast(&base, 1, MPI_INT64_T, 0, m_comm);
        if (base < 0)
            throw std::invalid_argument("--base must be a measured policy, 'mean', 'bound' (with --rate) or "
                                        "milliseconds, but is " +
                                        m_settings.base);
        return ticks{base};
    }

    [[nodiscard]] auto given_base() const -> std::int64_t {
        try {
            std::size_t used = 0;
            double const value = std::stod(m_settings.base, &used);
            return used == m_settings.base.size() ? static_cast<std::int64_t>(value * 1e6) : -1;
        } catch (std::exception const&) {
            return -1;
        }
    }

    [[nodiscard]] auto cases(ticks base) const -> std::vector<arrival_case> {
        std::vector<arrival_case> all;
        if (!m_settings.arrivals_file.empty()) {
            auto arrivals = papcoll::read_arrivals(m_settings.arrivals_file, m_ranks);
            auto const first = *std::min_element(arrivals.begin(), arrivals.end());
            for (auto& arrival : arrivals) arrival -= first;
            all.push_back({"file", 0, papcoll::imbalance(arrivals), arrivals});
            return all;
        }
        for (auto const shape : papcoll::all_arrival_shapes()) {
            auto const name = std::string(to_string(shape));
            auto const& chosen = m_settings.patterns;
            if (shape == papcoll::arrival_shape::no_delay) continue;
            if (!chosen.empty() && std::find(chosen.begin(), chosen.end(), name) == chosen.end()) continue;
            for (double const factor : m_settings.factors) {
                ticks const magnitude{static_cast<ticks::rep>(static_cast<double>(base.count()) * factor)};
                all.push_back({name, factor, magnitude,
                               papcoll::arrival_pattern(shape, m_ranks, magnitude, m_settings.seed)});
            }
        }
        return all;
    }

    void print_conditions() {
        auto const version = library_version();
        auto const& link = papcoll::context_of(m_comm)->link();
        std::printf("# %s, %d ranks, root %d, seed %llu, %d repetitions, base: %s\n", version.c_str(),
                    m_ranks, m_settings.root, static_cast<unsigned long long>(m_settings.seed),
                    m_settings.repetitions, m_settings.base.c_str());
        std::printf("# link measured by papcoll: latency %.1f us, %.1f ns per KB; rate given: %s\n",
                    static_cast<double>(link.latency.count()) * 1e-3, link.per_byte * 1000,
                    m_settings.rate.empty() ? "none" : m_settings.rate.c_str());
        m_document = {{"mpi", version},
                      {"ranks", m_ranks},
                      {"root", m_settings.root},
                      {"seed", m_settings.seed},
                      {"repetitions", m_settings.repetitions},
                      {"base", m_settings.base},
                      {"rate", m_settings.rate},
                      {"link_latency_us", static_cast<double>(link.latency.count()) * 1e-3},
                      {"link_ns_per_kb", link.per_byte * 1000},
                      {"rows", nlohmann::json::array()}};
    }

    settings m_settings;
    MPI_Comm m_comm = MPI_COMM_WORLD;
    int m_rank = 0;
    int m_ranks = 1;
    std::optional<link_rate> m_rate;
    bool m_first_case = true; // of a size
    table m_table;
    nlohmann::json m_document;
};

auto run(int argc, char** argv) -> int {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    settings s;
    if (auto const code = parse(argc, argv, s)) return *code;
    try {
        program(s).run();
    } catch (std::exception const& error) {
        // The other ranks may be inside an operation that this one has left.
        std::fprintf(stderr, "collectives: rank %d: %s\n", rank, error.what());
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
