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

struct candidate : contestant {
    std::string name;
};

/// All in turn, a few of them `until_dropped`, from then on those alone that take less than twice the best's
/// time on rank 0, since times are not rounded alike on all ranks.
void measure(buffers& b, std::vector<contestant*> const& all, call_settings const& s) {
    constexpr int until_dropped = 5;
    auto const drop = [&](int rounds, std::vector<contestant*>& of) {
        if (rounds != until_dropped) return;
        double least = median(of.front()->times);
        for (auto* const c : of) least = std::min(least, median(c->times));
        std::erase_if(of, [&](contestant* c) { return agreed(b.comm, median(c->times) > 2 * least); });
    };
    auto const is_narrow = [&](contestant const* c) {
        return median_interval(c->times).relative_width() <= s.repeat.narrow;
    };
    take_turns(
        b, all, s, [&](auto const& of) { return std::all_of(of.begin(), of.end(), is_narrow); }, drop);
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

auto measure_cell(collective_kind what, std::size_t bytes, call_settings const& s) -> cell {
    buffers b(MPI_COMM_WORLD, bytes);
    answer by_model;
    call(what, b, asking{what, &by_model});
    std::vector<candidate> candidates;
    for (auto const& name : by_model.candidates)
        candidates.push_back(
            {{[what, policy = told(what, name)](buffers& of) { call(what, of, policy); }}, name});
    std::vector<contestant*> all;
    for (auto& c : candidates) all.push_back(&c);
    measure(b, all, s);
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
    measure(b, {&chosen, &best}, s);
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

auto run(call_settings const& s) -> int {
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
        if (!s.wants(to_string(what))) continue;
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
    auto const s = std::make_shared<call_settings>(
        call_settings{.sizes = parse_sizes({"8:2Mi:8"}),
                      .repeat = {.warm_up = 2, .repetitions = 9, .narrow = 0.02, .seconds = 0.5}});
    auto& app = all.add("choice", "What automatic chooses by its model, beside all that it could choose",
                        MPI_THREAD_SINGLE, [s] { return run(*s); });
    s->add_to(app);
    s->add_calls(app);
}

} // namespace bench
