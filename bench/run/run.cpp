// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// papcoll-bench run: operation × policy × size × arrival pattern × magnitude, on whatever ranks mpirun gives.
#include <papcoll/arrival/pattern_file.hpp>
#include <papcoll/core.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../support/program.hpp"
#include "measure.hpp"
#include "report.hpp"

namespace bench {
namespace {

struct settings {
    std::vector<std::string> operations{"reduce"}, policies, patterns;
    std::vector<std::size_t> sizes{524288, 4194304};
    std::vector<double> factors{0.5, 1.0, 1.5};
    std::string base = "papcoll", rate, arrivals_file, json, blocks;
    stage::settings how;
    std::string predictor = "reports";
    double computation_ms = -1, patience_ms = 0;
    int root = 0, segments = 0;
    std::size_t block_bytes = 0;
    double round_us = 0;
    bool balanced_only = false, patterns_only = false, predict = false, check = false;
};

void add_options(CLI::App& app, settings& s) {
    std::string names;
    for (auto const& name : operation_names()) names += (names.empty() ? "" : ", ") + name;
    add_option(app, "--operations,--operation", s.operations, names);
    add_option(
        app, "--policies", s.policies,
        "default: some of the operation. native; native:ALGORITHM (by its number with Open MPI and "
        "--mca coll_tuned_use_dynamic_rules 1, by its name with MPICH and under SimGrid; native:* is each "
        "of Open MPI's or MPICH's); inative; automatic; "
        "those of PAPCOLL_<OPERATION>_ALGORITHM; circulant:BLOCKS, and circulant:paper "
        "or, with another constant, circulant:paper:C; "
        "two_level:LANES; dissemination:RADIX, knomial_tree:RADIX; reduce also reference:binomial, "
        ":rabenseifner, "
        ":radix_k, :ring; broadcast also arrival_broadcast; all_gather also open:POLICY, begun before the "
        "computation. Behind each "
        "@SOURCE says what it is told of the arrivals: true (default), monitor, silent (the last "
        "rank reports nothing to the monitor), reversed, random, constant, blind");
    add_sizes(app, s.sizes, "of all elements, which are floats");
    add_option(app, "--patterns", s.patterns, "default: all; the balanced rows are always there");
    add_flag(app, "--balanced-only", s.balanced_only, "no patterns");
    add_flag(app, "--patterns-only", s.patterns_only, "no balanced rows; then --base must need none");
    add_option(app, "--magnitudes", s.factors, "multiples of the base time", between(0, 1e6));
    add_option(
        app, "--base", s.base,
        "what magnitudes are multiples of: the balanced run time of this policy ('papcoll': of the "
        "first that is not native), 'mean' of all policies' balanced run times, 'own': of each policy its "
        "own, "
        "'bound', 'block' "
        "(one rank's part on a link), or a number of milliseconds");
    add_option(app, "--arrivals", s.arrivals_file, "a file of arrivals in place of patterns");
    add_option(app, "--rate", s.rate, "of a link, such as 100mbit: gives the link bound");
    s.how.repeat.add_to(app);
    add_seed(app, s.how.seed);
    add_json(app, s.json);
    add_option(app, "--root", s.root, "", not_negative);
    add_option(app, "--block-bytes", s.block_bytes, "of circulant; default: its own choice", positive);
    add_option(app, "--blocks", s.blocks,
               "FIRST:LAST, twice as many each time: circulant with so many blocks, beside its own choice "
               "and the paper's rule, in place of --policies");
    add_option(app, "--segments", s.segments, "of Clairvoyant and background_circulant; default: their own",
               positive);
    add_option(app, "--round-us", s.round_us, "round time of Clairvoyant; default: its own choice", positive);
    add_flag(app, "--anew", s.how.vary.anew, "draw the delays of the pattern 'random' in each repetition");
    add_option(app, "--delayed-ranks", s.how.vary.delayed_ranks,
               "so many, drawn in each repetition, keep their delay; 0: all", not_negative);
    add_option(app, "--computation", s.computation_ms,
               "of a rank without delay, in ms; default: 0, or 100 where the monitor predicts");
    add_option(app, "--noise", s.how.vary.noise, "standard deviation of each half of a computation",
               between(0.0, 0.2));
    add_flag(app, "--work", s.how.work, "compute really; default: sleep");
    add_option(app, "--predictor", s.predictor,
               "reports: from the report of this repetition; papcoll: that of the monitor itself, which also "
               "looks at the repetitions before",
               one_of({"reports", "papcoll"}));
    add_option(app, "--patience", s.patience_ms, "of the monitor, in ms", not_negative);
    add_flag(app, "--predict", s.predict, "say what the model predicts, and how far it is from the truth");
    add_flag(app, "--check", s.check,
             "no measurement: every policy on the first 1, 2, … ranks, every root, sizes around p");
}

class runs {
public:
    explicit runs(settings s)
        : m_settings(std::move(s))
        , m_ranks(world_size()) {
        if (m_settings.balanced_only && m_settings.patterns_only)
            throw std::invalid_argument("--balanced-only and --patterns-only together leave nothing");
        m_settings.how.reports_alone = m_settings.predictor == "reports";
        m_settings.how.patience = ticks{std::llround(m_settings.patience_ms * 1e6)};
        if (!m_settings.rate.empty()) m_rate = parse_rate(m_settings.rate);
        for (auto const& name : m_settings.patterns)
            if (!papcoll::arrival_shape_of(name)) throw std::invalid_argument("no pattern " + name);
        papcoll::attach(m_comm);
    }

    void measure_all() {
        for (auto const& operation : m_settings.operations) {
            begin(operation);
            for (auto const bytes : m_settings.sizes) run_size(operation, bytes / sizeof(float));
        }
        report_lateness(m_comm);
        if (m_errors.empty()) return m_document->write();
        std::printf("# %zu cases, median error of the prediction %.1f %%, largest %.1f %%\n", m_errors.size(),
                    100 * median(m_errors), 100 * quantile(m_errors, 1));
        m_document->write();
    }

    /// Every policy, on groups of the first ranks, with every root, and sizes around their number.
    void check_all() {
        for (int p = 1; p <= m_ranks; ++p) {
            MPI_Comm group = MPI_COMM_NULL;
            MPI_Comm_split(m_comm, world_rank() < p ? 0 : MPI_UNDEFINED, world_rank(), &group);
            if (group == MPI_COMM_NULL) continue;
            auto const ranks = static_cast<std::size_t>(p);
            for (auto const& operation : m_settings.operations)
                for (int root = 0; root < p; ++root)
                    for (auto const n : {std::size_t{0}, std::size_t{1}, ranks - 1, ranks, 5 * ranks + 3})
                        check(group, operation, root, n, p);
            MPI_Comm_free(&group);
        }
        MPI_Barrier(m_comm);
        if (world_rank() == 0) std::printf("all policies are right on 1 to %d ranks\n", m_ranks);
    }

private:
    [[nodiscard]] auto contenders(operation const& op) const -> std::vector<contender> {
        auto names = m_settings.policies.empty() ? op.policies() : m_settings.policies;
        if (!m_settings.blocks.empty()) {
            names = {"native", "circulant", "circulant:paper"};
            for (auto const n : parse_sizes({m_settings.blocks}))
                names.push_back("circulant:" + std::to_string(n));
        }
        std::vector<contender> all;
        for (auto const& name : names)
            if (name == "native:*")
                for (auto const& each : op.algorithms()) all.emplace_back(each);
            else
                all.emplace_back(name);
        return all;
    }
    [[nodiscard]] auto options_of(std::size_t count) const -> call_options {
        call_options options{.count = count, .root = m_settings.root};
        if (m_settings.block_bytes > 0) options.block_bytes = m_settings.block_bytes;
        if (m_settings.segments > 0) options.segments = m_settings.segments;
        if (m_settings.round_us > 0)
            options.round = ticks{static_cast<ticks::rep>(m_settings.round_us * 1e3)};
        return options;
    }

    void check(MPI_Comm group, std::string const& operation, int root, std::size_t n, int p) const {
        auto options = options_of(n);
        options.root = root;
        auto const op = make_operation(operation, group, options);
        std::vector<ticks> arrivals;
        for (int r = 0; r < p; ++r) arrivals.emplace_back((r * 5 + root) % p * 100'000);
        for (auto const& c : contenders(*op)) {
            op->spoil();
            op->prepare(c.policy, arrivals);
            op->begin();
            op->run();
            if (!op->correct())
                throw std::runtime_error(operation + " by " + c.name + " is wrong with " + std::to_string(p) +
                                         " ranks, root " + std::to_string(root) + ", " + std::to_string(n) +
                                         " elements");
        }
    }

    /// The conditions are printed once; the monitor and the clock stay from operation to operation.
    void begin(std::string const& operation) {
        auto const all = contenders(*make_operation(operation, m_comm, options_of(0x10000)));
        bool predicted = false;
        for (auto const& c : all) predicted = predicted || c.is_predicted();
        auto s = m_settings.how;
        auto const before = m_settings.computation_ms >= 0 ? m_settings.computation_ms : predicted ? 100 : 0;
        s.vary.computation = ticks{static_cast<ticks::rep>(before * 1e6)};
        m_stage.reset();
        m_stage = std::make_unique<stage>(m_comm, s, all);
        if (!m_document) describe(before);
    }

    void run_size(std::string const& name, std::size_t count) {
        auto const op = make_operation(name, m_comm, options_of(count));
        auto const all = contenders(*op);
        m_first_case = true;
        auto const together = m_settings.patterns_only
                                  ? results()
                                  : run_case(name, *op, all, count, arrival_case::balanced(m_ranks));
        if (m_settings.balanced_only) return;
        // "own": paper 5's robustness, where each has delays as long as it takes without.
        std::vector<std::vector<contender>> groups{all};
        if (m_settings.base == "own") {
            groups.clear();
            for (auto const& each : all) groups.push_back({each});
        }
        for (auto const& group : groups) {
            auto const wanted = m_settings.base == "own" ? group.front().name : m_settings.base;
            for (auto const& c : cases(base_time(wanted, together, *op, all)))
                (void)run_case(name, *op, group, count, c);
        }
    }

    auto run_case(std::string const& name, operation& op, std::vector<contender> const& all,
                  std::size_t count, arrival_case const& c) -> results {
        int const warm_up = std::max(m_settings.how.repeat.warm_up, m_first_case ? 1 : 0);
        m_first_case = false;
        auto measured = m_stage->measure(op, all, c, warm_up);
        if (world_rank() != 0) return measured;
        auto const native = measured.find("native");
        for (auto const& each : all) {
            auto const& own = measured.at(each.name);
            row r{name, each.name, count, c.pattern, c.factor, c.magnitude, own};
            auto const planned = own.front().planned;
            if (native != measured.end())
                r.native_delay = median(values_of(native->second, &repetition::last_delay));
            r.facts = op.facts(each.policy, each.source == "blind" ? std::vector<ticks>() : planned);
            if (m_rate) r.bound = m_rate->nanoseconds(op.least_bytes()) * 1e-6;
            if (m_rate && r.facts && r.facts->rounds_after_last_arrival > 0)
                r.needed = static_cast<double>(r.facts->rounds_after_last_arrival) *
                           m_rate->nanoseconds(r.facts->segment_bytes) * 1e-6;
            if (auto const truth = measured.find(each.policy + "@true"); truth != measured.end())
                r.to_true = median(ratios(values_of(own, &repetition::last_delay),
                                          values_of(truth->second, &repetition::last_delay)));
            if (m_settings.predict) predict(op, each, r);
            m_table.print(cells_of(r));
            m_document->add(in_json(r));
        }
        return measured;
    }

    void predict(operation& op, contender const& c, row& r) {
        auto const& planned = r.runs.front().planned;
        op.prepare(c.policy, c.source == "blind" ? std::vector<ticks>() : planned);
        papcoll::cost_model model{.latency = m_link.latency, .per_byte = m_link.per_byte};
        if (m_rate) model.per_byte = m_rate->nanoseconds(1'000'000) * 1e-6;
        model.compute_per_byte = m_combine_cost;
        auto const delay = op.predict(planned, model);
        if (!delay) return;
        r.predicted = milliseconds(*delay);
        m_errors.push_back(std::abs(*r.predicted / median(values_of(r.runs, &repetition::last_delay)) - 1));
    }

    /// Rank 0 has the times; it decides for all.
    [[nodiscard]] auto base_time(std::string wanted, results const& balanced, operation const& op,
                                 std::vector<contender> const& all) const -> ticks {
        if (wanted == "papcoll")
            for (auto const& each : all)
                if (each.policy != "native") {
                    wanted = each.name;
                    break;
                }
        std::int64_t base = -1;
        if (world_rank() == 0) base = base_here(wanted, balanced, op);
        MPI_Bcast(&base, 1, MPI_INT64_T, 0, m_comm);
        if (base < 0)
            throw std::invalid_argument(
                "--base must be a measured policy, 'mean', 'own', 'bound' or 'block' (with "
                "--rate) or milliseconds, at most 1e9, but is " +
                m_settings.base);
        return ticks{base};
    }
    [[nodiscard]] auto base_here(std::string const& wanted, results const& balanced,
                                 operation const& op) const -> std::int64_t {
        auto const run_time = [](repetitions const& of) {
            return median(values_of(of, &repetition::run_time));
        };
        double ms = -1e-6;
        if (auto const found = balanced.find(wanted); found != balanced.end()) {
            ms = run_time(found->second);
        } else if (wanted == "mean" && !balanced.empty()) {
            ms = 0;
            for (auto const& [policy, of] : balanced)
                ms += run_time(of) / static_cast<double>(balanced.size());
        } else if (wanted == "bound" && m_rate) {
            ms = m_rate->nanoseconds(op.least_bytes()) * 1e-6;
        } else if (wanted == "block" && m_rate) {
            auto const others = static_cast<std::size_t>(std::max(m_ranks - 1, 1));
            ms = m_rate->nanoseconds(op.least_bytes() / others) * 1e-6;
        } else {
            std::size_t used = 0;
            try {
                double const value = std::stod(wanted, &used);
                if (used == wanted.size() && value <= 1e9) ms = value;
            } catch (std::exception const&) {
            }
        }
        return std::llround(ms * 1e6);
    }

    [[nodiscard]] auto cases(ticks base) const -> std::vector<arrival_case> {
        std::vector<arrival_case> all;
        if (!m_settings.arrivals_file.empty()) {
            all.push_back(arrival_case::of_file(papcoll::read_arrivals(m_settings.arrivals_file, m_ranks)));
            return all;
        }
        for (auto const shape : papcoll::all_arrival_shapes()) {
            auto const name = std::string(to_string(shape));
            auto const& chosen = m_settings.patterns;
            if (shape == papcoll::arrival_shape::no_delay) continue;
            if (!chosen.empty() && std::find(chosen.begin(), chosen.end(), name) == chosen.end()) continue;
            for (double const factor : m_settings.factors)
                all.push_back(arrival_case::of_shape(
                    shape, factor, ticks{std::llround(static_cast<double>(base.count()) * factor)}, m_ranks,
                    m_settings.how.seed));
        }
        return all;
    }

    void describe(double computation_ms) {
        auto const& s = m_settings.how;
        m_link = papcoll::context_of(m_comm)->measured_link();
        if (m_settings.predict)
            m_combine_cost = papcoll::agreed_combine_cost<float>(m_comm, std::plus<>()) / sizeof(float);
        double const latency_us = static_cast<double>(m_link.latency.count()) * 1e-3;
        if (world_rank() == 0)
            std::printf("# %s, %d ranks, root %d, seed %llu, %d repetitions, base: %s\n"
                        "# link measured by papcoll: latency %.1f us, %.1f ns per KB; rate given: %s\n",
                        library_version().c_str(), m_ranks, m_settings.root,
                        static_cast<unsigned long long>(s.seed), s.repeat.repetitions,
                        m_settings.base.c_str(), latency_us, m_link.per_byte * 1000,
                        m_settings.rate.empty() ? "none" : m_settings.rate.c_str());
        m_document.emplace(m_settings.json, "run",
                           nlohmann::json{{"ranks", m_ranks},
                                          {"root", m_settings.root},
                                          {"seed", s.seed},
                                          {"repetitions", s.repeat.repetitions},
                                          {"base", m_settings.base},
                                          {"rate", m_settings.rate},
                                          {"anew", s.vary.anew},
                                          {"delayed_ranks", s.vary.delayed_ranks},
                                          {"computation_ms", computation_ms},
                                          {"noise", s.vary.noise},
                                          {"work", s.work},
                                          {"predictor", s.reports_alone ? "reports" : "papcoll"},
                                          {"link_latency_us", latency_us},
                                          {"link_ns_per_kb", m_link.per_byte * 1000}});
    }

    settings m_settings;
    MPI_Comm m_comm = MPI_COMM_WORLD;
    int m_ranks;
    std::optional<link_rate> m_rate;
    papcoll::link_model m_link;
    double m_combine_cost = 0;
    bool m_first_case = true; // of a size
    std::unique_ptr<stage> m_stage;
    table m_table;
    std::optional<document> m_document;
    std::vector<double> m_errors;
};

} // namespace

void add_run(program& all) {
    auto const s = std::make_shared<settings>();
    auto const run = [s] {
        runs measured(*s);
        if (s->check)
            measured.check_all();
        else
            measured.measure_all();
        return 0;
    };
    auto const level = [s] {
        if (simulated) return MPI_THREAD_FUNNELED; // they have no threads
        for (auto const& name : s->policies)
            if (name.rfind("open:", 0) == 0 || name.find("@monitor") != std::string::npos ||
                name.find("@silent") != std::string::npos)
                return MPI_THREAD_MULTIPLE;
        return MPI_THREAD_FUNNELED;
    };
    add_options(all.add("run", "Collectives under process arrival patterns, and without", level, run), *s);
}

} // namespace bench
