// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// papcoll-bench overlap: whether messages move while an operator runs, which is the premise of paper 2. Trees
// reduce data with an operator that takes its time, beside what the one-ported model with overlap says.
// Results: results/overlap.md
#include <papcoll/analysis/simulate.hpp>
#include <papcoll/core.hpp>
#include <papcoll/scheduler/binomial_tree.hpp>
#include <papcoll/scheduler/fibonacci_tree.hpp>
#include <papcoll/scheduler/greedy_tree.hpp>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../support/document.hpp"
#include "../support/program.hpp"
#include "../support/start_together.hpp"
#include "../support/statistics.hpp"

namespace bench {
namespace {

struct settings {
    std::string size = "512Ki";
    std::vector<double> ratios{0.25, 1, 4};
    std::vector<std::string> policies{"greedy_tree",     "fibonacci_tree", "binomial_tree",
                                      "greedy_tree:cut", "automatic",      "native"};
    std::string rate = "100mbit", json;
    effort repeat{.warm_up = 1, .repetitions = 5, .narrow = 0, .seconds = 1};
    bool whole = false, spin = false, multiple = false;
};

/// Takes a time for each element: sleeps, so that the ranks of an emulated cluster, which share processors,
/// compute at the same time; or keeps the processor.
class slow_work {
public:
    void use(double nanoseconds, bool spin) {
        m_each = ticks{static_cast<ticks::rep>(nanoseconds)};
        m_spin = spin;
    }
    void take_time() {
        if (m_each == ticks{0}) return;
        auto const begin = papcoll::steady_now();
        // Of elements in a row one that slept too long leaves the next one less.
        m_until = (begin - m_until < std::chrono::microseconds(200) ? m_until : begin) + m_each;
        if (m_spin)
            while (papcoll::steady_now() < m_until) {
            }
        else if (auto const left = m_until - papcoll::steady_now(); left > ticks{0})
            std::this_thread::sleep_for(left);
    }

private:
    ticks m_each{0}, m_until{0};
    bool m_spin = false;
};

template <class Value>
struct slow_sum {
    slow_work* work;

    auto operator()(Value const& a, Value const& b) const -> Value {
        Value sum;
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = a[i] + b[i];
        work->take_time();
        return sum;
    }
};

/// What a run of one policy came to, in ms.
struct outcome {
    double paper = 0; ///< the model of trees whose values are not cut: paper 2
    double model = 0; ///< of the program that runs
    std::vector<double> measured;
};

/// The reduction of some values to rank 0 by each policy.
template <class Value>
class reduction {
public:
    using call = std::function<void()>;

    reduction(settings const& s, std::size_t values)
        : m_settings(s)
        , m_in(values)
        , m_out(values) {
        for (auto& each : m_in) each.fill(static_cast<float>(world_rank()));
    }

    /// `each`: how long the operator takes for one value.
    auto measure(std::string const& policy, ticks each) -> outcome {
        double const each_ns = static_cast<double>(each.count());
        papcoll::greedy_tree const greedy{.compute_per_element = each_ns, .segments = 1};
        if (policy == "greedy_tree") return measure(greedy, each);
        if (policy == "greedy_tree:cut")
            return measure(papcoll::greedy_tree{.compute_per_element = each_ns}, each);
        if (policy == "fibonacci_tree") return measure(papcoll::fibonacci_tree{.segments = 1}, each);
        if (policy == "binomial_tree") return measure(papcoll::binomial_tree{.segments = 1}, each);
        if (policy == "automatic") return measure(papcoll::automatic{.compute_per_element = each_ns}, each);
        if (policy == "native") return measure(papcoll::native{}, each);
        throw std::invalid_argument("overlap has no policy " + policy);
    }

private:
    [[nodiscard]] auto costs(ticks each) const -> papcoll::cost_model {
        auto const link = papcoll::context_of(m_comm)->measured_link();
        return {.latency = link.latency,
                .per_byte = parse_rate(m_settings.rate).nanoseconds(1'000'000) * 1e-6,
                .compute = ticks{0},
                .compute_per_byte = static_cast<double>(each.count()) / sizeof(Value)};
    }
    template <class Policy>
    void predict(Policy const& policy, ticks each, outcome& to) const {
        papcoll::call_shape shape{.operation = papcoll::collective_kind::reduce, .ranks = world_size()};
        shape.count = m_in.size();
        shape.element_bytes = sizeof(Value);
        std::vector<papcoll::program> programs;
        for (shape.rank = 0; shape.rank < shape.ranks; ++shape.rank)
            programs.push_back(policy.plan(shape, papcoll::context_of(m_comm)->measured_link()));
        auto const last = [&](auto const& exits) {
            return static_cast<double>(std::max_element(exits.begin(), exits.end())->count()) * 1e-6;
        };
        to.model = last(papcoll::simulate(programs, {}, costs(each), sizeof(Value)));
        // Paper 2: nothing is cut.
        auto const c = costs(each);
        std::size_t const all = m_in.size() * sizeof(Value);
        papcoll::problem const p{.ranks = world_size()};
        auto const tree = [&](auto const& placed) {
            return static_cast<double>(
                       retimed(placed.tree, c.transfer_time(all), c.compute_time(all)).finish.count()) *
                   1e-6;
        };
        if (policy.name() == "greedy_tree")
            to.paper = tree(papcoll::greedy_tree_scheduler{.transfer_time = c.transfer_time(all),
                                                           .compute_time = c.compute_time(all)}
                                .placed(p));
        if (policy.name() == "fibonacci_tree") to.paper = tree(papcoll::fibonacci_tree_scheduler{}.placed(p));
        if (policy.name() == "binomial_tree") to.paper = tree(papcoll::binomial_tree_scheduler{}.placed(p));
    }
    template <class Policy>
    auto measure(Policy const& policy, ticks each) -> outcome {
        m_work.use(static_cast<double>(each.count()), m_settings.spin);
        outcome result;
        constexpr bool is_tree =
            !std::is_same_v<Policy, papcoll::native> && !std::is_same_v<Policy, papcoll::automatic>;
        if constexpr (is_tree) predict(policy, each, result);
        auto const op = papcoll::commutative(slow_sum<Value>{&m_work});
        for (int i = -m_settings.repeat.warm_up; i < m_settings.repeat.repetitions; ++i) {
            auto const start = agree_on_start(m_comm);
            wait_until(start);
            papcoll::reduce(m_comm, m_in.data(), m_in.size(), m_out.data(), op, 0, policy);
            double end = static_cast<double>((now() - start).count()) * 1e-6, last = 0;
            MPI_Reduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, 0, m_comm);
            if (i >= 0) result.measured.push_back(last);
            check();
        }
        return result;
    }
    void check() const {
        auto const sum = static_cast<float>(world_size() * (world_size() - 1) / 2);
        for (auto const& value : m_out)
            for (auto const number : value)
                if (world_rank() == 0 && !(number >= sum && number <= sum))
                    throw std::runtime_error("a sum is wrong");
    }

    settings const& m_settings;
    MPI_Comm m_comm = MPI_COMM_WORLD;
    slow_work m_work;
    std::vector<Value> m_in, m_out;
};

template <class Value>
void run_with(settings const& s, document& result) {
    std::size_t const values = std::max<std::size_t>(parse_size(s.size) / sizeof(Value), 1);
    double const transfer = parse_rate(s.rate).nanoseconds(values * sizeof(Value));
    reduction<Value> reduce(s, values);
    if (world_rank() == 0)
        std::printf(
            "%zu values of %zu B, %d ranks, a transfer takes d = %.1f ms; ms, medians\n\n| c ÷ d | policy | "
            "measured | spread | model | ÷ model | whole values (paper) | ÷ binomial | paper's |\n"
            "|---|---|---|---|---|---|---|---|---|\n",
            values, sizeof(Value), world_size(), transfer * 1e-6);
    for (auto const ratio : s.ratios) {
        ticks const each{static_cast<ticks::rep>(ratio * transfer / static_cast<double>(values))};
        std::vector<outcome> all;
        for (auto const& policy : s.policies) all.push_back(reduce.measure(policy, each));
        if (world_rank() != 0) continue;
        auto const binomial = std::find(s.policies.begin(), s.policies.end(), "binomial_tree");
        for (std::size_t i = 0; i < all.size(); ++i) {
            auto const t = statistics_of(all[i].measured);
            std::printf("| %.2f | %s | %.1f | %.1f to %.1f |", ratio, s.policies[i].c_str(), t.median, t.min,
                        t.max);
            if (all[i].model > 0)
                std::printf(" %.1f | %.2f |", all[i].model, t.median / all[i].model);
            else
                std::printf(" | |");
            if (all[i].paper > 0)
                std::printf(" %.1f |", all[i].paper);
            else
                std::printf(" |");
            if (binomial == s.policies.end()) {
                std::printf(" | |\n");
            } else {
                auto const& b = all[static_cast<std::size_t>(binomial - s.policies.begin())];
                std::printf(" %.2f |", t.median / median(b.measured));
                if (all[i].paper > 0)
                    std::printf(" %.2f |\n", all[i].paper / b.paper);
                else
                    std::printf(" |\n");
            }
            std::fflush(stdout);
            result.add({{"operation", "reduce"},
                        {"policy", s.policies[i]},
                        {"bytes", values * sizeof(Value)},
                        {"compute_to_transfer", ratio},
                        {"model_ms", all[i].model},
                        {"paper_ms", all[i].paper},
                        {"time_ms", in_json(t)}});
        }
    }
}

auto run(settings const& s) -> int {
#ifdef __linux__
    prctl(PR_SET_TIMERSLACK, 1UL); // sleeps that are not longer than they must be
#endif
    papcoll::attach(MPI_COMM_WORLD);
    document result(s.json, "overlap", {{"ranks", world_size()}, {"rate", s.rate}, {"whole", s.whole}});
    if (s.whole)
        run_with<std::array<float, 131072>>(s, result);
    else
        run_with<std::array<float, 1024>>(s, result);
    report_lateness(MPI_COMM_WORLD);
    result.write();
    return 0;
}

} // namespace

void add_overlap(program& all) {
    auto const s = std::make_shared<settings>();
    auto& app = all.add(
        "overlap", "Trees with an operator that takes its time: whether messages move meanwhile",
        [s] { return s->multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED; }, [s] { return run(*s); });
    add_option(app, "--size", s->size, "of the data, which is values of 4 KiB");
    add_option(app, "--ratios", s->ratios, "how long a combination takes, in transfers of all data");
    add_option(app, "--policies", s->policies,
               "trees have one segment, greedy_tree:cut as many as it chooses");
    add_option(app, "--rate", s->rate, "of a link");
    add_flag(app, "--whole", s->whole, "values of 512 KiB, which cannot be cut");
    add_flag(app, "--spin", s->spin, "the operator keeps the processor; default: it sleeps");
    add_flag(app, "--multiple", s->multiple, "MPI_THREAD_MULTIPLE");
    add_option(app, "--warm-up", s->repeat.warm_up, "repetitions that do not count", not_negative);
    add_option(app, "--repetitions", s->repeat.repetitions, "of each line", positive);
    add_json(app, s->json);
}

} // namespace bench
