// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// How many blocks circulant cuts the data into, beside the rules of paper 3, section 3, and the best of a
// sweep: collective × elements × blocks, on ranks that share one clock (this machine, or the emulated cluster
// on it).
#include <papcoll/papcoll.hpp>
#include <papcoll/scheduler/circulant/skips.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/measure.hpp"
#include "support/operations.hpp"
#include "support/start_together.hpp"

namespace bench {
namespace {

struct settings {
    std::vector<std::string> operations{"broadcast", "reduce", "all_gatherv_mod3"};
    std::size_t least = 1;
    std::size_t most = 1000000;
    std::size_t most_native = 100000000;
    int least_blocks = 1;
    int most_blocks = 4096;
    int repetitions = 21;
    double budget_ms = 1000;
    double f = 100; // the paper's for Open MPI; 80 for MPICH, 120 for Intel MPI
    double g = 40;  // the paper's for Intel MPI, the only one it names
    std::string csv;
};

auto parse(int argc, char** argv, settings& s) -> std::optional<int> {
    CLI::App app{"Block sizes of circulant: its choice, the paper's rules, the best of a sweep"};
    app.add_option("--operations", s.operations, "broadcast, reduce, all_gatherv_mod3, all_gatherv_one")
        ->delimiter(',')
        ->capture_default_str();
    app.add_option("--least", s.least, "elements (floats)")->capture_default_str();
    app.add_option("--most", s.most, "elements; from 1 on, multiplied by 2 and 5 in turn")
        ->capture_default_str();
    app.add_option("--most-native", s.most_native, "elements with which the MPI library is measured, too")
        ->capture_default_str();
    app.add_option("--least-blocks", s.least_blocks, "of the sweep, which doubles them")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--most-blocks", s.most_blocks)->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--repetitions", s.repetitions, "at most")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--budget-ms", s.budget_ms,
                   "for the repetitions of one number of blocks; one is always made")
        ->capture_default_str();
    app.add_option("--f", s.f, "of the paper's block size F·√(m/⌈log2 P⌉)")->capture_default_str();
    app.add_option("--g", s.g, "of the paper's number of blocks √(m·⌈log2 P⌉)/G")->capture_default_str();
    app.add_option("--csv", s.csv, "write all rows to this file, too");
    try {
        app.parse(argc, argv);
    } catch (CLI::ParseError const& error) {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        return rank == 0 ? app.exit(error) : error.get_exit_code();
    }
    return std::nullopt;
}

/// What is cut into blocks: everything, or the largest part of a rank.
struct cut_data {
    std::size_t elements;
    bool rooted;

    [[nodiscard]] auto block_bytes(int blocks) const -> std::size_t {
        auto const n = static_cast<std::size_t>(blocks);
        return std::max<std::size_t>((elements + n - 1) / n, 1) * sizeof(float);
    }
    /// How many blocks of this size there are in fact.
    [[nodiscard]] auto blocks(std::size_t bytes) const -> int {
        auto const piece = bytes / sizeof(float);
        return static_cast<int>(std::max<std::size_t>((elements + piece - 1) / piece, 1));
    }
};

/// Shorter ones are not swept: a message costs far more than its bytes.
constexpr std::size_t least_block_bytes = 128;

/// One size of one operation. Numbers of blocks are the keys; 0 stands for the MPI library's own.
class case_of_blocks {
public:
    case_of_blocks(MPI_Comm comm, settings const& s, std::string operation, std::size_t count)
        : m_comm(comm)
        , m_settings(s)
        , m_operation(std::move(operation))
        , m_count(count) {
        MPI_Comm_rank(comm, &m_rank);
        MPI_Comm_size(comm, &m_ranks);
        auto const shape = this->shape();
        m_cut = {shape.sizes.empty() ? count : *std::max_element(m_sizes.begin(), m_sizes.end()),
                 shape.sizes.empty()};
        m_chosen = real(papcoll::circulant{}.blocks(shape, papcoll::context_of(comm)->link()));
        m_paper = real(paper_blocks(shape.bytes()));
        m_runs[m_chosen];
        m_runs[m_paper];
        auto const most = std::min<std::size_t>(m_cut.elements * sizeof(float) / least_block_bytes,
                                                static_cast<std::size_t>(s.most_blocks));
        for (std::size_t n = static_cast<std::size_t>(s.least_blocks); n <= most; n *= 2)
            m_runs[real(static_cast<int>(n))];
        if (count <= s.most_native) m_runs[0];
    }

    void measure_all() {
        // The first call of each pays for its schedule and is not counted, but says how many there can be.
        // The schedules of 16 calls are kept: of the default sweep all.
        ticks longest{0};
        for (auto const& [n, runs] : m_runs)
            if (n > 0)
                longest = std::max(longest, measure_once(n).last_delay());
            else
                (void)measure_once(n);
        auto repetitions = static_cast<int>(m_settings.budget_ms * 1e6 /
                                            static_cast<double>(std::max<ticks::rep>(longest.count(), 1000)));
        repetitions = std::clamp(repetitions, 1, m_settings.repetitions);
        MPI_Bcast(&repetitions, 1, MPI_INT, 0, m_comm);
        for (int i = 0; i < repetitions; ++i)
            for (auto& [n, runs] : m_runs) runs.push_back(measure_once(n));
    }

    /// Whole, and rows for each number of blocks.
    void report(std::FILE* csv) const {
        auto const best = std::min_element(m_runs.begin(), m_runs.end(), [&](auto const& a, auto const& b) {
            return a.first > 0 && (b.first == 0 || median(a.first) < median(b.first));
        });
        auto const ms = [&](int n) { return static_cast<double>(median(n).count()) * 1e-6; };
        char native[32] = "-";
        if (m_runs.count(0) > 0) std::snprintf(native, sizeof native, "%.3f", ms(0));
        std::printf("| %s | %zu | %s | %.3f (%d) | %.3f (%d) | %.3f (%d) | %.2f | %.2f |\n",
                    m_operation.c_str(), m_count, native, ms(m_chosen), m_chosen, ms(m_paper), m_paper,
                    ms(best->first), best->first, ms(m_chosen) / ms(best->first),
                    ms(m_paper) / ms(best->first));
        std::fflush(stdout);
        if (csv == nullptr) return;
        for (auto const& [n, runs] : m_runs) {
            auto const times = summarise(runs, &repetition::last_delay);
            std::fprintf(csv, "%s,%d,%zu,%d,%zu,%d,%d,%zu,%.4f,%.4f,%.4f\n", m_operation.c_str(), m_ranks,
                         m_count, n, n > 0 ? m_cut.block_bytes(n) : 0, n == m_chosen ? 1 : 0,
                         n == m_paper ? 1 : 0, runs.size(), static_cast<double>(times.median.count()) * 1e-6,
                         static_cast<double>(times.least.count()) * 1e-6,
                         static_cast<double>(times.most.count()) * 1e-6);
        }
        std::fflush(csv);
    }

private:
    [[nodiscard]] auto shape() -> papcoll::call_shape {
        using papcoll::collective_kind;
        papcoll::call_shape s{
            .operation = collective_kind::broadcast, .ranks = m_ranks, .rank = m_rank, .root = 0};
        s.count = m_count;
        s.element_bytes = sizeof(float);
        if (m_operation == "reduce") s.operation = collective_kind::reduce;
        if (m_operation.rfind("all_gatherv", 0) != 0) return s;
        s.operation = collective_kind::all_gather;
        m_sizes = divide(m_operation == "all_gatherv_one" ? division::one_has_all : division::modulo_3,
                         m_count, m_ranks);
        s.count = 0;
        for (auto const size : m_sizes) s.count += size;
        s.sizes = m_sizes;
        return s;
    }
    [[nodiscard]] auto real(int blocks) const -> int { return m_cut.blocks(m_cut.block_bytes(blocks)); }

    [[nodiscard]] auto paper_blocks(std::size_t bytes) const -> int {
        auto const m = static_cast<double>(bytes);
        double const q = std::max(papcoll::circulant_skips(m_ranks).rounds(), 1);
        double const n =
            m_cut.rooted ? std::ceil(m / (m_settings.f * std::sqrt(m / q))) : std::sqrt(m * q) / m_settings.g;
        return static_cast<int>(
            std::clamp(n, 1.0, static_cast<double>(std::max<std::size_t>(m_cut.elements, 1))));
    }
    auto measure_once(int blocks) -> repetition {
        call_options options{.count = m_count};
        if (blocks > 0) options.block_bytes = m_cut.block_bytes(blocks);
        auto const op = make_operation(m_operation, m_comm, options);
        return run_once(m_comm, *op, blocks == 0 ? "native" : "circulant",
                        std::vector<ticks>(static_cast<std::size_t>(m_ranks)));
    }
    [[nodiscard]] auto median(int blocks) const -> ticks {
        return summarise(m_runs.at(blocks), &repetition::last_delay).median;
    }

    MPI_Comm m_comm;
    settings const& m_settings;
    std::string m_operation;
    std::size_t m_count;
    int m_rank = 0;
    int m_ranks = 1;
    std::vector<std::size_t> m_sizes;
    cut_data m_cut{0, true};
    int m_chosen = 1;
    int m_paper = 1;
    std::map<int, std::vector<repetition>> m_runs;
};

/// Writes nothing on ranks other than 0.
struct csv_file {
    explicit csv_file(std::string const& name) {
        if (name.empty()) return;
        file.reset(std::fopen(name.c_str(), "w"));
        if (!file) throw std::runtime_error("cannot write " + name);
        std::fprintf(file.get(), "operation,ranks,elements,blocks,block_bytes,chosen,paper,repetitions,"
                                 "median_ms,least_ms,most_ms\n");
    }
    struct close {
        void operator()(std::FILE* f) const { std::fclose(f); }
    };
    std::unique_ptr<std::FILE, close> file;
};

void print_head(settings const& s) {
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(version, &length);
    auto const& link = papcoll::context_of(MPI_COMM_WORLD)->link();
    std::printf(
        "%.*s; %d ranks; latency %.1f us, %.3f ns per byte; F = %g, G = %g; at most %d repetitions\n\n",
        static_cast<int>(std::string(version).find_first_of(",\n")), version, ranks,
        static_cast<double>(link.latency.count()) * 1e-3, link.per_byte, s.f, s.g, s.repetitions);
    std::printf("Last delay in ms, median (number of blocks)\n\n"
                "| operation | floats | MPI's own | chosen | paper's rule | best of sweep | chosen ÷ best | "
                "paper ÷ best |\n"
                "| --- | --- | --- | --- | --- | --- | --- | --- |\n");
}

auto run(int argc, char** argv) -> int {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    settings s;
    if (auto const code = parse(argc, argv, s)) return *code;
    try {
        papcoll::attach(MPI_COMM_WORLD);
        csv_file const csv(rank == 0 ? s.csv : "");
        if (rank == 0) print_head(s);
        for (auto const& operation : s.operations)
            for (std::size_t count = 1, i = 0; count <= s.most; count *= i++ % 2 == 0 ? 2 : 5) {
                if (count < s.least) continue;
                case_of_blocks one(MPI_COMM_WORLD, s, operation, count);
                one.measure_all();
                if (rank == 0) one.report(csv.file.get());
            }
        report_lateness(MPI_COMM_WORLD);
    } catch (std::exception const& error) {
        // The other ranks may be inside an operation that this one has left.
        std::fprintf(stderr, "block_size: rank %d: %s\n", rank, error.what());
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
