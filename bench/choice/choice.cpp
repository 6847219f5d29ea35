// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// papcoll-bench choice: the policy that automatic takes beside all others that it could take.
#include <papcoll/core.hpp>
#include <papcoll/policy/known_policies.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <vector>

#include "../beside/calls.hpp"
#include "../support/document.hpp"
#include "../support/program.hpp"

namespace bench {
namespace {

using papcoll::automatic;
using papcoll::collective_kind;

struct settings {
    std::vector<std::size_t> sizes = parse_sizes({"8:2Mi:8"});
    effort repeat{.warm_up = 2, .repetitions = 9, .narrow = 0.02, .seconds = 0.5};
    int calls = 1;
    std::vector<std::string> operations = {};
    std::string json;
};

constexpr collective_kind all_kinds[] = {
    collective_kind::broadcast,  collective_kind::reduce,  collective_kind::all_reduce,
    collective_kind::gather,     collective_kind::scatter, collective_kind::all_gather,
    collective_kind::all_to_all, collective_kind::scan,    collective_kind::reduce_scatter,
    collective_kind::exscan,     collective_kind::barrier};

template <class Policy>
void call(collective_kind what, buffers& b, Policy const& policy) {
    auto const op = std::plus<float>();
    switch (what) {
    case collective_kind::broadcast:
        return papcoll::broadcast(b.comm, b.in.data(), b.n, 0, policy);
    case collective_kind::reduce:
        return papcoll::reduce(b.comm, b.in.data(), b.n, b.out.data(), op, 0, policy);
    case collective_kind::all_reduce:
        return papcoll::all_reduce(b.comm, b.in.data(), b.n, b.out.data(), op, policy);
    case collective_kind::gather:
        return papcoll::gather(b.comm, b.in.data(), b.part, b.out.data(), 0, policy);
    case collective_kind::scatter:
        return papcoll::scatter(b.comm, b.in.data(), b.out.data(), b.part, 0, policy);
    case collective_kind::all_gather:
        return papcoll::all_gather(b.comm, b.in.data(), b.part, b.out.data(), policy);
    case collective_kind::reduce_scatter:
        return papcoll::reduce_scatter(b.comm, b.in.data(), b.sizes, b.out.data(), op, policy);
    case collective_kind::all_to_all:
        return papcoll::all_to_all(b.comm, b.in.data(), b.part, b.out.data(), policy);
    case collective_kind::scan:
        return papcoll::scan(b.comm, b.in.data(), b.n, b.out.data(), op, policy);
    case collective_kind::exscan:
        return papcoll::exscan(b.comm, b.in.data(), b.n, b.out.data(), op, policy);
    case collective_kind::barrier:
        return papcoll::barrier(b.comm, policy);
    }
}

/// `automatic`, told by a table to take this policy wherever the call can.
auto told(collective_kind what, std::string_view name) -> automatic {
    std::vector<papcoll::tuning_table::entry> entries{{what, 1, 1, {std::string(name), {}}}};
    return {.table = std::make_shared<papcoll::tuning_table const>(std::move(entries))};
}

/// What `automatic` takes for a call, and what else it could take. It is asked where the plan is made.
struct answer {
    std::string chosen;
    std::vector<std::string> candidates;
};
struct asking {
    collective_kind what;
    answer* to;

    static constexpr bool reorders_operands = false;
    static constexpr auto provides(collective_kind) -> bool { return true; }
    [[nodiscard]] auto name() const -> std::string_view { return "asking"; }
    void check(papcoll::call_shape const&) const {}
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> { return {}; }
    [[nodiscard]] auto plan(papcoll::call_shape const& shape, papcoll::link_model const& link) const
        -> papcoll::program {
        using known = papcoll::detail::known_policies<papcoll::detail::default_bitset>;
        auto const chosen_by = [&](automatic const& policy) {
            return policy.choose(shape, link).choice.policy;
        };
        *to = {chosen_by({}), {}};
        for (auto const name : known::names(what))
            if (chosen_by(told(what, name)) == name) to->candidates.emplace_back(name);
        return automatic{}.plan(shape, link);
    }
};

struct candidate {
    std::string name;
    automatic policy;
    std::vector<double> times = {};
};

/// All in turn, each time another one first, a few of them `until_dropped`, from then on those alone that
/// take less than twice the best's time on rank 0, since times are not rounded alike on all ranks.
void measure(collective_kind what, buffers& b, std::vector<candidate*> all, settings const& s) {
    constexpr int until_dropped = 5;
    for (int i = 0; i < s.repeat.warm_up; ++i)
        for (auto* const c : all) call(what, b, c->policy);
    double const begin = MPI_Wtime();
    auto const is_narrow = [&](candidate const* c) {
        return median_interval(c->times).relative_width() <= s.repeat.narrow;
    };
    auto const goes_on = [&](int done) {
        if (done < s.repeat.repetitions) return true;
        if (MPI_Wtime() - begin >= s.repeat.seconds) return false;
        return done % 8 != 0 || !std::all_of(all.begin(), all.end(), is_narrow);
    };
    for (int done = 0; agreed(b.comm, goes_on(done)); ++done) {
        for (auto* const c : all)
            c->times.push_back(time_of([&](buffers& of) { call(what, of, c->policy); }, b, s.calls));
        if (done + 1 == until_dropped) {
            double least = median(all.front()->times);
            for (auto* const c : all) least = std::min(least, median(c->times));
            std::erase_if(all, [&](candidate* c) { return agreed(b.comm, median(c->times) > 2 * least); });
        }
        std::rotate(all.begin(), all.begin() + 1, all.end());
    }
}

/// What was measured of one call: all candidates, then the chosen one and the best, again and together, since
/// the least of many medians is too small.
struct cell {
    collective_kind what;
    std::size_t bytes;
    std::string chosen, best;
    double chosen_us, best_us;
    double ratio = 1; ///< chosen ÷ best
    std::vector<std::pair<std::string, statistics>> all = {};
};

auto measure_cell(collective_kind what, std::size_t bytes, settings const& s) -> cell {
    buffers b(MPI_COMM_WORLD, bytes);
    answer by_model;
    call(what, b, asking{what, &by_model});
    std::vector<candidate> candidates;
    for (auto const& name : by_model.candidates) candidates.push_back({name, told(what, name)});
    std::vector<candidate*> all;
    for (auto& c : candidates) all.push_back(&c);
    measure(what, b, all, s);
    auto const by_median = [](auto const& l, auto const& r) { return median(l.times) < median(r.times); };
    auto least = static_cast<int>(std::min_element(candidates.begin(), candidates.end(), by_median) -
                                  candidates.begin());
    MPI_Bcast(&least, 1, MPI_INT, 0, b.comm);
    auto& best = candidates[static_cast<std::size_t>(least)];
    auto& chosen = *std::find_if(candidates.begin(), candidates.end(),
                                 [&](auto const& c) { return c.name == by_model.chosen; });
    cell result{what, bytes, chosen.name, best.name, median(chosen.times), median(best.times)};
    for (auto const& c : candidates) result.all.emplace_back(c.name, statistics_of(c.times));
    if (&best == &chosen) return result;
    best.times.clear();
    chosen.times.clear();
    measure(what, b, {&chosen, &best}, s);
    result.chosen_us = median(chosen.times);
    result.best_us = median(best.times);
    result.ratio = std::max(result.chosen_us / result.best_us, 1.0);
    return result;
}

void print(cell const& c) {
    std::printf("%-14s %8zu B  %-16s %10.2f us  best %-16s %10.2f us  chosen / best %5.2f\n",
                std::string(to_string(c.what)).c_str(), c.bytes, c.chosen.c_str(), c.chosen_us,
                c.best.c_str(), c.best_us, c.ratio);
    std::fflush(stdout);
}

void print_summary(std::vector<cell> const& cells) {
    std::map<std::string, std::vector<double>> each;
    std::vector<double> all;
    for (auto const& c : cells) {
        each[std::string(to_string(c.what))].push_back(c.ratio);
        all.push_back(c.ratio);
    }
    std::printf("\n%d ranks, %s\n", world_size(), library_version().c_str());
    auto const line = [](std::string const& name, std::vector<double> const& of) {
        std::printf("%-14s chosen / best: geometric mean %.2f, worst %.2f\n", name.c_str(),
                    geometric_mean(of), *std::max_element(of.begin(), of.end()));
    };
    for (auto const& [name, of] : each) line(name, of);
    line("all", all);
}

/// How papcoll waits adapts to the machine, which takes up to a thousand calls: these do not count.
void get_used_to_the_machine() {
    double const begin = MPI_Wtime();
    while (agreed(MPI_COMM_WORLD, MPI_Wtime() - begin < 0.2))
        for (int i = 0; i < 10; ++i) papcoll::barrier(MPI_COMM_WORLD);
}

auto wanted(collective_kind what, settings const& s) -> bool {
    auto const& names = s.operations;
    return names.empty() || std::find(names.begin(), names.end(), to_string(what)) != names.end();
}

auto run(settings const& s) -> int {
    papcoll::attach(MPI_COMM_WORLD);
    auto const link = papcoll::context_of(MPI_COMM_WORLD)->link();
    document result(s.json, "choice",
                    {{"ranks", world_size()},
                     {"link_latency_us", static_cast<double>(link.latency.count()) * 1e-3},
                     {"link_ns_per_kb", link.per_byte * 1000},
                     {"link_message_us", link.per_message * 1e-3}});
    if (world_rank() == 0)
        std::printf("# link: latency %.1f us, %.1f ns per KB, %.1f us per further message\n",
                    static_cast<double>(link.latency.count()) * 1e-3, link.per_byte * 1000,
                    link.per_message * 1e-3);
    get_used_to_the_machine();
    std::vector<cell> cells;
    for (auto const what : all_kinds) {
        if (!wanted(what, s)) continue;
        for (auto const bytes : s.sizes) {
            if (what == collective_kind::barrier && bytes != s.sizes.front()) continue;
            cells.push_back(measure_cell(what, std::max<std::size_t>(bytes, 1), s));
            auto const& c = cells.back();
            if (world_rank() != 0) continue;
            print(c);
            for (auto const& [policy, time] : c.all)
                result.add({{"operation", std::string(to_string(what))},
                            {"policy", policy},
                            {"bytes", bytes},
                            {"chosen", policy == c.chosen},
                            {"chosen_to_best", c.ratio},
                            {"time_us", in_json(time)}});
        }
    }
    result.write();
    if (world_rank() == 0 && !cells.empty()) print_summary(cells);
    return 0;
}

} // namespace

void add_choice(program& all) {
    auto const s = std::make_shared<settings>();
    auto& app = all.add("choice", "What automatic chooses by its model, beside all that it could choose",
                        MPI_THREAD_SINGLE, [s] { return run(*s); });
    add_sizes(app, s->sizes, "of the data of one rank, or of all ranks where it is divided");
    s->repeat.add_to(app);
    app.add_option("--calls", s->calls, "in a row; 1: from rest")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--operations", s->operations, "default: all")->delimiter(',');
    add_json(app, s->json);
}

} // namespace bench
