// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// How well simulate() predicts: the last delay of collectives under arrival patterns, predicted with the
// agreed α and β of the communicator and measured, for the very programs that the policies' plans are.
// Prints one line for each case and the median of the absolute errors; on whatever ranks mpirun gives that
// share one clock.
#include <papcoll/analysis.hpp>
#include <papcoll/analysis/simulate.hpp>
#include <papcoll/arrival/patterns.hpp>
#include <papcoll/collective/combine_cost.hpp>
#include <papcoll/papcoll.hpp>
#include <papcoll/policy/arrival_all_reduce.hpp>
#include <papcoll/policy/arrival_tree.hpp>
#include <papcoll/policy/binomial_tree.hpp>
#include <papcoll/policy/fibonacci_tree.hpp>
#include <papcoll/policy/greedy_tree.hpp>
#include <papcoll/scheduler/reversed.hpp>
#include <papcoll/scheduler/ring.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/measure.hpp"
#include "support/operations.hpp"
#include "support/report.hpp"

namespace bench {
namespace {

using papcoll::cost_model;
using time_list = std::vector<ticks>;

/// A policy of an operation, to be measured and to be predicted.
class subject : public operation {
public:
    [[nodiscard]] virtual auto predict(time_list const& arrivals, cost_model const& model) const -> ticks = 0;
};

template <class Operation, class MakePolicy>
class subject_of final : public subject {
public:
    subject_of(MPI_Comm comm, call_options const& options, MakePolicy make)
        : m_comm(comm)
        , m_operation(comm, options)
        , m_make(make) {}
    [[nodiscard]] auto policies() const -> std::vector<std::string> override { return {"it"}; }
    [[nodiscard]] auto least_bytes() const -> std::size_t override { return m_operation.least_bytes(); }
    void prepare(std::string const&, time_list const& arrivals) override {
        m_policy.emplace(m_make(arrivals));
        m_operation.reset();
    }
    void run() override { m_operation.call(*m_policy); }
    [[nodiscard]] auto correct() const -> bool override { return m_operation.correct(); }
    [[nodiscard]] auto facts(std::string const&, time_list const&) const
        -> std::optional<schedule_facts> override {
        return std::nullopt;
    }
    [[nodiscard]] auto predict(time_list const& arrivals, cost_model const& model) const -> ticks override {
        auto shape = m_operation.shape();
        auto const& link = papcoll::context_of(m_comm)->measured_link();
        auto const policy = m_make(arrivals);
        std::vector<papcoll::program> programs;
        for (shape.rank = 0; shape.rank < shape.ranks; ++shape.rank)
            programs.push_back(policy.plan(shape, link));
        return papcoll::last_delay(arrivals,
                                   papcoll::simulate(programs, arrivals, model, shape.element_bytes));
    }

private:
    MPI_Comm m_comm;
    Operation m_operation;
    MakePolicy m_make;
    std::optional<std::invoke_result_t<MakePolicy, time_list const&>> m_policy;
};

struct entry {
    std::string operation;
    std::string policy;
    std::function<std::unique_ptr<subject>(MPI_Comm, call_options const&)> make;
};

template <class Operation, class MakePolicy>
auto entry_of(std::string operation, std::string policy, MakePolicy make) -> entry {
    return {std::move(operation), std::move(policy), [make](MPI_Comm comm, call_options const& options) {
                return std::make_unique<subject_of<Operation, MakePolicy>>(comm, options, make);
            }};
}
/// A policy that does not look at arrivals.
template <class Operation, class Policy>
auto blind(std::string operation, std::string name, Policy const& policy) -> entry {
    return entry_of<Operation>(std::move(operation), std::move(name),
                               [policy](time_list const&) { return policy; });
}

auto entries() -> std::vector<entry> {
    using all_gather = all_gather_operation<division::even>;
    using reduce_scatter = reduce_scatter_operation<division::even>;
    using to_ring = papcoll::reversed_scheduler<papcoll::ring_scheduler>;
    return {
        entry_of<reduce_operation>("reduce", "clairvoyant",
                                   [](time_list const& t) {
                                       return papcoll::clairvoyant{
                                           .arrivals = t, .round = {}, .segments = {}};
                                   }),
        blind<reduce_operation>("reduce", "clairvoyant_blind", papcoll::clairvoyant{}),
        blind<reduce_operation>("reduce", "circulant", papcoll::circulant{}),
        blind<reduce_operation>("reduce", "greedy_tree", papcoll::greedy_tree{}),
        blind<reduce_operation>("reduce", "binomial_tree", papcoll::binomial_tree{}),
        blind<reduce_operation>("reduce", "fibonacci_tree", papcoll::fibonacci_tree{}),
        entry_of<reduce_operation>("reduce", "arrival_tree",
                                   [](time_list const& t) { return papcoll::arrival_tree{.arrivals = t}; }),
        blind<broadcast_operation>("broadcast", "circulant", papcoll::circulant{}),
        blind<broadcast_operation>("broadcast", "binomial_tree", papcoll::binomial_tree{}),
        blind<all_gather>("all_gather", "circulant", papcoll::circulant{}),
        blind<all_gather>("all_gather", "ring",
                          papcoll::scheduled<papcoll::ring_scheduler>{.algorithm = {}, .segments = 1}),
        blind<reduce_scatter>("reduce_scatter", "circulant", papcoll::circulant{}),
        blind<reduce_scatter>("reduce_scatter", "ring",
                              papcoll::scheduled<to_ring>{.algorithm = {}, .segments = 1}),
        blind<all_reduce_operation>("all_reduce", "circulant", papcoll::circulant{}),
        entry_of<all_reduce_operation>(
            "all_reduce", "arrival_all_reduce",
            [](time_list const& t) { return papcoll::arrival_all_reduce{.arrivals = t}; }),
    };
}

struct settings {
    std::vector<std::string> operations{"reduce", "broadcast", "all_gather", "reduce_scatter", "all_reduce"};
    std::vector<std::string> policies;
    std::vector<std::size_t> sizes{16384, 131072, 1048576};
    std::vector<std::string> patterns{"no_delay", "ascending", "last_delayed", "random"};
    std::string rate;
    int repetitions = 3;
};

auto among(std::string const& name, std::vector<std::string> const& names) -> bool {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

class program {
public:
    explicit program(settings s)
        : m_settings(std::move(s)) {
        MPI_Comm_rank(m_comm, &m_rank);
        MPI_Comm_size(m_comm, &m_ranks);
        papcoll::attach(m_comm);
        auto const& link = papcoll::context_of(m_comm)->measured_link();
        m_model = {.latency = link.latency, .per_byte = link.per_byte};
        if (!m_settings.rate.empty())
            m_model.per_byte =
                static_cast<double>(parse_rate(m_settings.rate).time_of(1'000'000).count()) * 1e-6;
        m_model.compute_per_byte = papcoll::agreed_combine_cost<float>(m_comm, std::plus<>()) / sizeof(float);
    }
    void run() {
        if (m_rank == 0)
            std::printf("# %d ranks, alpha %.1f us, beta %.2f ns/byte, gamma %.2f ns/byte, %d repetitions\n"
                        "# operation,policy,floats,pattern,predicted_ms,measured_ms,least_ms,most_ms,error\n",
                        m_ranks, static_cast<double>(m_model.latency.count()) * 1e-3, m_model.per_byte,
                        m_model.compute_per_byte, m_settings.repetitions);
        for (auto const& e : entries())
            if (among(e.operation, m_settings.operations) && among(e.policy, m_settings.policies))
                for (auto const count : m_settings.sizes) run_size(e, count);
        if (m_rank == 0 && !m_errors.empty()) {
            std::sort(m_errors.begin(), m_errors.end());
            std::printf("# %zu cases, median error %.1f %%\n", m_errors.size(),
                        m_errors[m_errors.size() / 2] * 100);
        }
    }

private:
    void run_size(entry const& e, std::size_t count) {
        call_options const options{.count = count, .root = 0, .segments = {}, .round = {}, .block_bytes = {}};
        auto const it = e.make(m_comm, options);
        auto const magnitude = m_model.transfer_time(count * sizeof(float));
        for (auto const& name : m_settings.patterns) {
            auto const shape = papcoll::arrival_shape_of(name);
            if (!shape) throw std::invalid_argument("no pattern " + name);
            auto const arrivals = papcoll::arrival_pattern(*shape, m_ranks, magnitude, 1);
            auto const runs = measure(m_comm, *it, {"it"}, arrivals, m_settings.repetitions).at("it");
            if (m_rank == 0) print(e, count, name, it->predict(arrivals, m_model), runs);
        }
    }
    void print(entry const& e, std::size_t count, std::string const& pattern, ticks predicted,
               std::vector<repetition> const& runs) {
        auto const ms = [](ticks t) { return static_cast<double>(t.count()) * 1e-6; };
        auto const delay = summarise(runs, &repetition::last_delay);
        double const error = ms(predicted) / ms(delay.median) - 1;
        std::printf("%s,%s,%zu,%s,%.3f,%.3f,%.3f,%.3f,%.3f\n", e.operation.c_str(), e.policy.c_str(), count,
                    pattern.c_str(), ms(predicted), ms(delay.median), ms(delay.least), ms(delay.most), error);
        std::fflush(stdout);
        m_errors.push_back(std::abs(error));
    }

    settings m_settings;
    MPI_Comm m_comm = MPI_COMM_WORLD;
    int m_rank = 0;
    int m_ranks = 1;
    cost_model m_model;
    std::vector<double> m_errors;
};

auto run(int argc, char** argv) -> int {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    settings s;
    CLI::App app{"Predicted against measured last delays"};
    app.add_option("--operations", s.operations)->delimiter(',');
    app.add_option("--policies", s.policies, "default: all")->delimiter(',');
    app.add_option("--sizes", s.sizes, "numbers of floats")->delimiter(',');
    app.add_option("--patterns", s.patterns, "their magnitude is the time of all data on one link")
        ->delimiter(',');
    app.add_option("--rate", s.rate, "of a link, such as 100mbit: beta from it, not from what was agreed");
    app.add_option("--repetitions", s.repetitions)->check(CLI::PositiveNumber);
    try {
        app.parse(argc, argv);
    } catch (CLI::ParseError const& error) {
        return rank == 0 ? app.exit(error) : error.get_exit_code();
    }
    try {
        program(s).run();
    } catch (std::exception const& error) {
        // The other ranks may be inside an operation that this one has left.
        std::fprintf(stderr, "validate_model: rank %d: %s\n", rank, error.what());
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
