// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// papcoll-bench learning: what calls lose that learn from nothing, and how good what they have learned is;
// beside it how good the model is that they begin with.
#include <papcoll/core.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "../beside/calls.hpp"
#include "../support/document.hpp"
#include "../support/program.hpp"

namespace bench {
namespace {

using papcoll::automatic;
using papcoll::collective_kind;

struct settings {
    std::vector<std::size_t> sizes = parse_sizes({"8", "512", "8Ki", "64Ki"});
    std::vector<std::string> operations = {"broadcast", "reduce", "all_reduce", "all_gather", "all_to_all"};
    int calls = 50;
    int repetitions = 3;
    std::uint64_t seed = 1;
    std::string json;
};

struct learning_operation {
    collective_kind kind;
    bool divided;                    ///< the data belongs to all ranks together
    std::vector<std::string> others; ///< that may be better than the model's choice
    std::function<void(buffers&, automatic const&)> call;
};

auto all_operations() -> std::vector<learning_operation> {
    auto const op = std::plus<float>();
    return {{collective_kind::broadcast,
             false,
             {"circulant", "knomial_tree", "native"},
             [](buffers& b, automatic const& by) { papcoll::broadcast(b.comm, b.in.data(), b.n, 0, by); }},
            {collective_kind::reduce,
             false,
             {"circulant", "knomial_tree", "native"},
             [=](buffers& b, automatic const& by) {
                 papcoll::reduce(b.comm, b.in.data(), b.n, b.out.data(), op, 0, by);
             }},
            {collective_kind::all_reduce,
             false,
             {"circulant", "dissemination", "native"},
             [=](buffers& b, automatic const& by) {
                 papcoll::all_reduce(b.comm, b.in.data(), b.n, b.out.data(), op, by);
             }},
            {collective_kind::gather,
             true,
             {"linear", "knomial_tree", "native"},
             [](buffers& b, automatic const& by) {
                 papcoll::gather(b.comm, b.in.data(), b.part, b.out.data(), 0, by);
             }},
            {collective_kind::all_gather,
             true,
             {"circulant", "dissemination", "native"},
             [](buffers& b, automatic const& by) {
                 papcoll::all_gather(b.comm, b.in.data(), b.part, b.out.data(), by);
             }},
            {collective_kind::all_to_all,
             true,
             {"linear_sync", "bruck", "native"},
             [](buffers& b, automatic const& by) {
                 papcoll::all_to_all(b.comm, b.in.data(), b.part, b.out.data(), by);
             }}};
}

auto operation_names() -> std::vector<std::string> {
    std::vector<std::string> names;
    for (auto const& operation : all_operations()) names.emplace_back(to_string(operation.kind));
    return names;
}

/// A communicator that has not learned anything yet.
class fresh_communicator {
public:
    explicit fresh_communicator(bool learns) {
        MPI_Comm_dup(MPI_COMM_WORLD, &m_comm);
        papcoll::attach(m_comm, {.learn = learns});
    }
    fresh_communicator(fresh_communicator const&) = delete;
    auto operator=(fresh_communicator const&) -> fresh_communicator& = delete;
    ~fresh_communicator() { MPI_Comm_free(&m_comm); }
    [[nodiscard]] auto get() const -> MPI_Comm { return m_comm; }

private:
    MPI_Comm m_comm = MPI_COMM_NULL;
};

/// Calls of one collective and size.
struct shape {
    learning_operation operation;
    std::size_t bytes;
    std::vector<std::string> candidates = {}; ///< the model's first, then all others, tried or not
    std::vector<automatic> by_candidate = {};
    std::vector<std::vector<double>> times = {}; ///< of each candidate, in microseconds
    std::vector<std::size_t> learned = {};       ///< in each repetition

    [[nodiscard]] auto elements() const -> std::size_t {
        buffers const b(MPI_COMM_WORLD, bytes);
        return operation.divided ? b.part * static_cast<std::size_t>(world_size()) : b.n;
    }
    void find_candidates(MPI_Comm comm) {
        auto const context = papcoll::context_of(comm);
        papcoll::call_shape about;
        about.operation = operation.kind;
        about.ranks = world_size();
        about.rank = world_rank();
        about.count = elements();
        about.element_bytes = sizeof(float);
        about.nodes = context->nodes();
        about.shared_bytes = context->shared_bytes();
        about.has_native = true;
        auto const choice = [&](automatic const& policy) {
            return policy.choose(about, context->link()).choice.policy;
        };
        auto const add = [&](std::string const& name) {
            papcoll::tuning_table::entry const only{operation.kind, world_size(), about.bytes(), {name, {}}};
            automatic const told{.table = std::make_shared<papcoll::tuning_table const>(std::vector{only})};
            if (std::ranges::count(candidates, name) > 0 || choice(told) != name) return;
            candidates.push_back(name);
            by_candidate.push_back(told);
        };
        add(choice({}));
        for (auto const& name : operation.others) add(name);
        times.resize(candidates.size());
    }
    /// Which candidate the calls on a communicator came to; the model's where they have not decided.
    void note_learned(papcoll::tuning_table const& table) {
        std::size_t found = 0;
        for (auto const& entry : table.entries())
            for (std::size_t c = 0; c < candidates.size(); ++c)
                if (entry.operation == operation.kind && entry.bytes == elements() * sizeof(float) &&
                    entry.choice.policy == candidates[c])
                    found = c;
        learned.push_back(found);
    }
    [[nodiscard]] auto best() const -> std::size_t { return best_of(times); }
    /// The best of one half of the times is valued by the other, and the other way round: the least of
    /// several medians would be too small by what chance makes of it.
    [[nodiscard]] auto to_best(std::size_t candidate) const -> double {
        auto const even = half(0), odd = half(1);
        return (median(odd[candidate]) / median(odd[best_of(even)]) +
                median(even[candidate]) / median(even[best_of(odd)])) /
               2;
    }
    /// By the least of all medians, which is too small.
    [[nodiscard]] auto to_least(std::size_t candidate) const -> double {
        return median(times[candidate]) / median(times[best()]);
    }

private:
    using times_of_candidates = std::vector<std::vector<double>>;

    static auto best_of(times_of_candidates const& of) -> std::size_t {
        auto const faster = [](auto const& a, auto const& b) { return median(a) < median(b); };
        return static_cast<std::size_t>(std::min_element(of.begin(), of.end(), faster) - of.begin());
    }
    /// Every other of the times.
    [[nodiscard]] auto half(std::size_t first) const -> times_of_candidates {
        times_of_candidates result(times.size());
        for (std::size_t c = 0; c < times.size(); ++c)
            for (auto i = first; i < times[c].size(); i += 2) result[c].push_back(times[c][i]);
        return result;
    }
};

/// Of all shapes one after the other: of their first calls, their second ones, ....
using call_times = std::vector<double>;

/// Calls of a shape, by number.
struct part {
    char const* name;
    std::size_t first, last;
};
constexpr std::array<part, 3> parts{{{"calls 1 to 4, the model's", 0, 4},
                                     {"calls 5 to 22, in which others are tried", 4, 22},
                                     {"later ones", 22, std::numeric_limits<std::size_t>::max()}}};

/// What the calls of some numbers take in repetitions, of each call the median.
[[nodiscard]] auto typical(std::vector<call_times> const& repetitions, std::size_t calls, part const& of)
    -> double {
    double sum = 0;
    for (std::size_t i = 0; i < repetitions.front().size(); ++i) {
        if (i % calls < of.first || i % calls >= of.last) continue;
        std::vector<double> times;
        for (auto const& one : repetitions) times.push_back(one[i]);
        sum += median(std::move(times));
    }
    return sum;
}

class learning {
public:
    explicit learning(settings const& s)
        : m_settings(s)
        , m_random(s.seed) {
        fresh_communicator const first(false);
        for (auto const& operation : all_operations()) {
            auto const name = std::string(to_string(operation.kind));
            if (std::find(s.operations.begin(), s.operations.end(), name) == s.operations.end()) continue;
            for (auto const bytes : s.sizes) {
                m_shapes.push_back({operation, bytes});
                m_shapes.back().find_candidates(first.get());
            }
        }
        for (std::size_t i = 0; i < m_shapes.size(); ++i)
            m_order.insert(m_order.end(), static_cast<std::size_t>(s.calls), i);
    }

    void measure() {
        try_candidates();
        for (int i = 0; i < m_settings.repetitions; ++i) {
            shuffle();
            for (int const turn : {i % 2, 1 - i % 2})
                turn == 0 ? m_learning.push_back(learn()) : m_knowing.push_back(know());
        }
    }
    void report(document& all) const {
        std::vector<double> learned, modelled, learned_to_least, modelled_to_least;
        for (auto const& one : m_shapes) {
            report_shape(one, all);
            for (auto const c : one.learned) {
                learned.push_back(one.to_best(c));
                learned_to_least.push_back(one.to_least(c));
            }
            modelled.push_back(one.to_best(0));
            modelled_to_least.push_back(one.to_least(0));
        }
        auto const calls = static_cast<std::size_t>(m_settings.calls);
        part const whole{"all", 0, calls};
        double const known = typical(m_knowing, calls, whole);
        auto const regret_of = [&](part const& of) {
            return (typical(m_learning, calls, of) - typical(m_knowing, calls, of)) / known;
        };
        std::vector<double> of_sums;
        for (std::size_t i = 0; i < m_learning.size(); ++i)
            of_sums.push_back(sum(m_learning[i]) / sum(m_knowing[i]) - 1);
        std::printf("\n%d ranks, %zu calls of %zu shapes, learning from nothing: regret %.1f %%\n",
                    world_size(), m_order.size(), m_shapes.size(), 100 * regret_of(whole));
        for (auto const& one : parts)
            std::printf("  of this by %s: %.1f %%\n", one.name, 100 * regret_of(one));
        std::printf("  of the sums, disturbed calls included: %.1f %% (%.1f to %.1f)\n",
                    100 * median(of_sums), 100 * quantile(of_sums, 0), 100 * quantile(of_sums, 1));
        print_ratios("learned / best candidate", learned);
        print_ratios("model / best candidate", modelled);
        print_ratios("learned / least median", learned_to_least);
        print_ratios("model / least median", modelled_to_least);
        all.add({{"what", "all"},
                 {"calls", m_order.size()},
                 {"shapes", m_shapes.size()},
                 {"regret", regret_of(whole)},
                 {"regret_of_calls_1_to_4", regret_of(parts[0])},
                 {"regret_of_calls_5_to_22", regret_of(parts[1])},
                 {"regret_of_later_calls", regret_of(parts[2])},
                 {"regret_of_sums", in_json(statistics_of(of_sums))},
                 {"learned_to_best", in_json(statistics_of(learned))},
                 {"model_to_best", in_json(statistics_of(modelled))},
                 {"learned_to_least", in_json(statistics_of(learned_to_least))},
                 {"model_to_least", in_json(statistics_of(modelled_to_least))}});
    }

private:
    /// On which communicator and by which policy a call is made.
    struct way {
        MPI_Comm comm;
        automatic const& policy;
    };
    /// All calls in the order drawn; by_call(shape, which call of it) is the way.
    template <class By, class Note>
    auto make_calls(By by_call, Note note) -> call_times {
        std::vector<buffers> memory;
        for (auto const& one : m_shapes) memory.emplace_back(MPI_COMM_WORLD, one.bytes);
        std::vector<std::size_t> made(m_shapes.size());
        auto const calls = static_cast<std::size_t>(m_settings.calls);
        call_times spent(m_order.size());
        for (auto const i : m_order) {
            way const by = by_call(m_shapes[i], made[i]);
            memory[i].comm = by.comm;
            auto const time =
                time_of([&](buffers& b) { m_shapes[i].operation.call(b, by.policy); }, memory[i], 1);
            spent[i * calls + made[i]] = time;
            note(m_shapes[i], made[i]++, time);
        }
        return spent;
    }
    /// Another order each time, the same on all ranks.
    void shuffle() { std::shuffle(m_order.begin(), m_order.end(), m_random); }
    static auto sum(call_times const& of) -> double { return std::accumulate(of.begin(), of.end(), 0.0); }
    /// Candidates take turns, each on a communicator of its own: all plans together are more than one keeps.
    /// Calls that plan, and those that first touch the memory of the node, do not count.
    void try_candidates() {
        std::list<fresh_communicator> comms;
        std::vector<MPI_Comm> of_candidate;
        for (auto const& one : m_shapes)
            while (of_candidate.size() < one.candidates.size())
                of_candidate.push_back(comms.emplace_back(false).get());
        auto const by = [&](shape const& one, std::size_t n) -> way {
            auto const c = n % one.candidates.size();
            return {of_candidate[c], one.by_candidate[c]};
        };
        make_calls(by, [](shape&, std::size_t, double) {});
        for (int i = 0; i < m_settings.repetitions; ++i) {
            shuffle();
            make_calls(by, [](shape& one, std::size_t n, double time) {
                one.times[n % one.candidates.size()].push_back(time);
            });
        }
    }
    auto learn() -> call_times {
        fresh_communicator const comm(true);
        automatic const nothing_said;
        auto const spent = make_calls(
            [&](shape const&, std::size_t) -> way {
                return {comm.get(), nothing_said};
            },
            [](shape&, std::size_t, double) {});
        auto const table = papcoll::learned(comm.get());
        for (auto& one : m_shapes) one.note_learned(table);
        return spent;
    }
    /// With the best candidate from the beginning.
    auto know() -> call_times {
        fresh_communicator const comm(false);
        std::vector<std::size_t> best(m_shapes.size());
        for (std::size_t i = 0; i < best.size(); ++i) best[i] = agreed_best(m_shapes[i]);
        auto const first = m_shapes.data();
        return make_calls(
            [&](shape const& one, std::size_t) -> way {
                return {comm.get(), one.by_candidate[best[static_cast<std::size_t>(&one - first)]]};
            },
            [](shape&, std::size_t, double) {});
    }
    /// Times are those of the slowest rank on all ranks, but they are not rounded alike everywhere.
    static auto agreed_best(shape const& one) -> std::size_t {
        auto best = static_cast<int>(one.best());
        MPI_Bcast(&best, 1, MPI_INT, 0, MPI_COMM_WORLD);
        return static_cast<std::size_t>(best);
    }

    static void report_shape(shape const& one, document& all) {
        auto const operation = std::string(to_string(one.operation.kind));
        std::printf("%-14s %8zu B ", operation.c_str(), one.bytes);
        nlohmann::json row{{"what", "shape"}, {"operation", operation}, {"bytes", one.bytes}};
        for (std::size_t c = 0; c < one.candidates.size(); ++c) {
            auto const& name = one.candidates[c];
            std::printf(" %s %.1f us,", name.c_str(), median(one.times[c]));
            row["candidates"].push_back(
                {{"policy", name}, {"time_us", in_json(statistics_of(one.times[c]))}});
        }
        std::printf(" learned");
        for (auto const c : one.learned) {
            std::printf(" %s (%.2f)", one.candidates[c].c_str(), one.to_best(c));
            row["learned"].push_back(one.candidates[c]);
        }
        std::puts("");
        all.add(std::move(row));
    }
    static void print_ratios(char const* what, std::vector<double> const& of) {
        std::printf("%s: mean %.3f, worst %.2f\n", what, mean(of), *std::max_element(of.begin(), of.end()));
    }

    settings m_settings;
    std::vector<shape> m_shapes;
    std::vector<std::size_t> m_order;
    std::mt19937_64 m_random;
    std::vector<call_times> m_learning, m_knowing; // in each repetition
};

auto run(settings const& s) -> int {
    learning all(s);
    all.measure();
    if (world_rank() != 0) return 0;
    document result(s.json, "learning", {{"ranks", world_size()}, {"calls_of_a_shape", s.calls}});
    all.report(result);
    result.write();
    return 0;
}

} // namespace

void add_learning(program& all) {
    auto const s = std::make_shared<settings>();
    auto& app =
        all.add("learning", "What calls lose that learn from nothing, and how good what they learn is",
                MPI_THREAD_SINGLE, [s] { return run(*s); });
    add_sizes(app, s->sizes, "of the data of one rank, or of all ranks where it is divided");
    add_option(app, "--operations", s->operations, "whose shapes are learned", one_of(operation_names()));
    app.add_option("--calls", s->calls, "of each shape")
        ->check(CLI::Range(8, 1'000'000))
        ->capture_default_str();
    app.add_option("--repetitions", s->repetitions, "each on new communicators")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    add_seed(app, s->seed);
    add_json(app, s->json);
}

} // namespace bench
