// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// papcoll-bench model schedulers: all schedulers under all arrival patterns, in the model of
// papcoll::simulate: one row for each operation, number of ranks, pattern, magnitude and scheduler, with the
// last delay as a multiple of a bound that no algorithm can beat; fails if one does.
//
// To compare one more scheduler add a line to `candidates`.
#include <papcoll/analysis/metrics.hpp>
#include <papcoll/analysis/simulate.hpp>
#include <papcoll/arrival/patterns.hpp>
#include <papcoll/policy/impl/clairvoyant.hpp>
#include <papcoll/scheduler/arrival_tree.hpp>
#include <papcoll/scheduler/background_circulant.hpp>
#include <papcoll/scheduler/background_ring.hpp>
#include <papcoll/scheduler/binomial_tree.hpp>
#include <papcoll/scheduler/circulant.hpp>
#include <papcoll/scheduler/circulant_all_gather.hpp>
#include <papcoll/scheduler/clairvoyant.hpp>
#include <papcoll/scheduler/fibonacci_tree.hpp>
#include <papcoll/scheduler/gather_broadcast.hpp>
#include <papcoll/scheduler/greedy_tree.hpp>
#include <papcoll/scheduler/neighbor_exchange.hpp>
#include <papcoll/scheduler/reversed.hpp>
#include <papcoll/scheduler/ring.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../support/document.hpp"
#include "model.hpp"

namespace bench {
namespace {

using namespace papcoll;

enum class operation { reduce, reduce_uncut, broadcast, broadcast_uncut, all_gather };
constexpr std::array<std::string_view, 5> operation_names{"reduce", "reduce_uncut", "broadcast",
                                                          "broadcast_uncut", "all_gather"};

auto name_of(operation what) -> std::string_view { return operation_names[static_cast<std::size_t>(what)]; }
auto is_reduction(operation what) -> bool {
    return what == operation::reduce || what == operation::reduce_uncut;
}
auto is_uncut(operation what) -> bool {
    return what == operation::reduce_uncut || what == operation::broadcast_uncut;
}
/// ⌈log2 P⌉
auto log_2(int ranks) -> int { return static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1))); }

/// What is to be scheduled. The root is rank 0.
struct setting {
    operation what;
    int ranks;
    std::size_t bytes; ///< of the result of a reduction or broadcast, of each rank in an all-gather
    cost_model model;
};

/// What a scheduler may be told beside its problem.
struct block_costs {
    ticks transfer; ///< of the largest block
    ticks compute;
    ticks all_blocks; ///< the transfer of all that a rank owns, in one message
    ticks latency;
};

struct outcome {
    int blocks;
    std::size_t transfers;
    std::vector<ticks> exits;
};

// Into how many blocks the data of an owner is cut.
using cut_rule = int (*)(setting const&);

auto whole(setting const&) -> int { return 1; }
/// n = √((q − 1) m β/α), which makes (n − 1 + q)(α + β m/n) smallest (paper 3, Theorem 2).
auto theorem_2(setting const& s) -> int {
    double const volume = s.model.per_byte * static_cast<double>(s.bytes);
    double const latency = std::max(1.0, static_cast<double>(s.model.latency.count()));
    auto const best = std::lround(std::sqrt(std::max(0, log_2(s.ranks) - 1) * volume / latency));
    return static_cast<int>(std::clamp<long>(best, 1, 4096));
}
/// The choice of the clairvoyant policy, which counts the time that computing the schedule takes, too.
auto by_clairvoyant(setting const& s) -> int {
    return detail::clairvoyant_segments({.ranks = s.ranks, .rank = 0, .root = 0, .count = s.bytes},
                                        {.latency = s.model.latency, .per_byte = s.model.per_byte});
}

template <class Make>
auto run(setting const& s, cut_rule cut, std::span<ticks const> arrivals, Make const& make) -> outcome {
    int const pieces = is_uncut(s.what) ? 1 : cut(s);
    bool const gather = s.what == operation::all_gather;
    block_partition const part{s.bytes, pieces};
    std::vector<std::size_t> sizes;
    std::vector<int> owners;
    for (int owner = 0; owner < (gather ? s.ranks : 1); ++owner)
        for (int piece = 0; piece < pieces; ++piece) {
            sizes.push_back(part.size(piece));
            if (gather) owners.push_back(owner);
        }
    problem const p{.ranks = s.ranks,
                    .root = 0,
                    .blocks = static_cast<int>(sizes.size()),
                    .arrivals = arrivals,
                    .owners = owners};
    auto const scheduler = make(block_costs{.transfer = s.model.transfer_time(part.largest()),
                                            .compute = s.model.compute_time(part.largest()),
                                            .all_blocks = s.model.transfer_time(s.bytes),
                                            .latency = s.model.latency});
    using scheduler_type = std::remove_cv_t<decltype(scheduler)>;
    auto const schedule = transfers(scheduler, p);
    return {pieces, schedule.size(),
            simulate(schedule, p, s.model, sizes, scheduler_type::kind,
                     detail::participation_of<scheduler_type>)};
}

struct candidate {
    std::string_view name;
    std::vector<operation> operations;
    cut_rule cut;
    std::function<outcome(setting const&, std::span<ticks const>)> run;
};

auto candidates() -> std::vector<candidate> {
    using costs = block_costs const&;
    std::vector<operation> const reductions{operation::reduce, operation::reduce_uncut};
    std::vector<operation> const broadcasts{operation::broadcast, operation::broadcast_uncut};
    std::vector<operation> const gathers{operation::all_gather};
    std::vector<candidate> all;
    auto const add = [&](std::string_view name, std::vector<operation> const& where, cut_rule cut,
                         auto make) {
        all.push_back({name, where, cut, [=](setting const& s, std::span<ticks const> arrivals) {
                           return run(s, cut, arrivals, make);
                       }});
    };
    // clang-format off
    add("clairvoyant", reductions, by_clairvoyant, [](costs c) { return clairvoyant_scheduler<>{.round = c.transfer + c.transfer / 8}; });
    add("clairvoyant, n as circulant", {operation::reduce}, theorem_2, [](costs c) { return clairvoyant_scheduler<>{.round = c.transfer + c.transfer / 8}; });
    add("circulant", reductions, theorem_2, [](costs) { return circulant_reduction_scheduler{}; });
    add("arrival tree", reductions, whole, [](costs c) { return arrival_tree_scheduler{.transfer_time = c.transfer, .compute_time = c.compute}; });
    add("greedy tree", reductions, whole, [](costs c) { return greedy_tree_scheduler{.transfer_time = c.transfer, .compute_time = c.compute}; });
    add("binomial tree", reductions, whole, [](costs) { return binomial_tree_scheduler{}; });
    add("Fibonacci tree", reductions, whole, [](costs) { return fibonacci_tree_scheduler{}; });
    add("circulant", broadcasts, theorem_2, [](costs) { return circulant_scheduler{}; });
    add("greedy tree", broadcasts, whole, [](costs c) { return reversed(greedy_tree_scheduler{.transfer_time = c.transfer}); });
    add("binomial tree", broadcasts, whole, [](costs) { return reversed(binomial_tree_scheduler{}); });
    add("Fibonacci tree", broadcasts, whole, [](costs) { return reversed(fibonacci_tree_scheduler{}); });
    add("background circulant", gathers, theorem_2, [](costs c) { return background_circulant_scheduler{.block_time = c.all_blocks, .latency = c.latency}; });
    add("background ring", gathers, whole, [](costs c) { return background_ring_scheduler{.block_time = c.all_blocks}; });
    add("circulant", gathers, whole, [](costs) { return circulant_all_gather_scheduler{}; });
    add("ring", gathers, whole, [](costs) { return ring_scheduler{}; });
    add("neighbor exchange", gathers, whole, [](costs) { return neighbor_exchange_scheduler{}; });
    add("gather, broadcast", gathers, whole, [](costs) { return gather_broadcast_scheduler{}; });
    // clang-format on
    return all;
}

/// A time at which no algorithm, however informed, can be done; P ≥ 2.
///
/// Let a_k be the k-th last arrival and τ the time of a message with all bytes of a rank.
///  - Once the last rank is there all of its data has to pass one of its ports.
///  - A result in which k ranks have a part takes ⌈log2 k⌉ messages one after the other from a_k on:
///  backwards
///    in time, the ranks that the result is made from can only double per message. A message takes at least
///    α, if the data is not cut τ, and then a combination follows.
///  - What a root has reaches P ranks in the same way.
///  - After a_k some rank still has to receive the blocks of min(k, P − 1) others in an all-gather.
class bound {
public:
    bound(setting const& s, std::vector<ticks> const& arrivals)
        : m_setting(s)
        , m_hop(is_uncut(s.what) ? s.model.transfer_time(s.bytes) : s.model.latency)
        , m_root(arrivals.front())
        , m_sorted(arrivals) {
        std::sort(m_sorted.begin(), m_sorted.end(), std::greater<>{});
        m_last_other = *std::max_element(arrivals.begin() + 1, arrivals.end());
    }
    [[nodiscard]] auto exit() const -> ticks {
        if (is_reduction(m_setting.what)) return reduction();
        return m_setting.what == operation::all_gather ? all_gather() : broadcast();
    }

private:
    [[nodiscard]] auto message() const -> ticks { return m_setting.model.transfer_time(m_setting.bytes); }
    [[nodiscard]] auto reduction() const -> ticks {
        auto const combined = is_uncut(m_setting.what) ? m_setting.model.compute_time(m_setting.bytes)
                                                       : m_setting.model.compute;
        auto end = m_sorted.front() + message();
        for (int k = 2; k <= m_setting.ranks; ++k)
            end = std::max(end, m_sorted[static_cast<std::size_t>(k - 1)] + log_2(k) * m_hop);
        return end + combined;
    }
    [[nodiscard]] auto broadcast() const -> ticks {
        return std::max(
            {m_root + message(), m_root + log_2(m_setting.ranks) * m_hop, m_last_other + message()});
    }
    [[nodiscard]] auto all_gather() const -> ticks {
        auto end = m_sorted.front() + std::max(message(), log_2(m_setting.ranks) * m_hop);
        for (int k = 1; k <= m_setting.ranks; ++k) {
            auto const others = static_cast<std::size_t>(std::min(k, m_setting.ranks - 1));
            end = std::max(end, m_sorted[static_cast<std::size_t>(k - 1)] +
                                    m_setting.model.transfer_time(others * m_setting.bytes));
        }
        return end;
    }

    setting m_setting;
    ticks m_hop;
    ticks m_root;
    ticks m_last_other;
    std::vector<ticks> m_sorted;
};

struct options {
    std::vector<int> ranks{13, 100, 1000, 10000};
    std::vector<int> gather_ranks{13, 100, 300};
    std::vector<std::string> operations{operation_names.begin(), operation_names.end()};
    std::vector<double> magnitudes{0.5, 1.5, 5};
    std::size_t bytes = std::size_t(1) << 20;
    std::size_t gather_bytes = std::size_t(64) << 10;
    std::size_t most_transfers = 4'000'000;
    std::uint64_t seed = 1;
    double latency_us = 5;
    double per_byte = 0.8;
    double compute_per_byte = 0.1;
    std::string json;
};

class comparison {
public:
    explicit comparison(options const& o)
        : m_options(o)
        , m_document(o.json, "model schedulers",
                     {{"seed", o.seed},
                      {"latency_us", o.latency_us},
                      {"ns_per_byte", o.per_byte},
                      {"combination_ns_per_byte", o.compute_per_byte}}) {}

    void run() {
        std::printf("# latency %g us, %g ns per byte, combination %g ns per byte; seed %llu\n"
                    "%-16s %7s %-13s %9s %-26s %7s %14s %8s\n",
                    m_options.latency_us, m_options.per_byte, m_options.compute_per_byte,
                    static_cast<unsigned long long>(m_options.seed), "operation", "ranks", "pattern",
                    "magnitude", "scheduler", "blocks", "last delay/us", "÷ bound");
        for (auto const& name : m_options.operations) {
            auto const found = std::find(operation_names.begin(), operation_names.end(), name);
            auto const what = static_cast<operation>(found - operation_names.begin());
            for (int const ranks : what == operation::all_gather ? m_options.gather_ranks : m_options.ranks)
                compare(setting_of(what, ranks));
        }
        m_document.write();
    }

private:
    [[nodiscard]] auto setting_of(operation what, int ranks) const -> setting {
        cost_model const model{.latency = ticks{std::llround(1000 * m_options.latency_us)},
                               .per_byte = m_options.per_byte,
                               .compute = ticks{0},
                               .compute_per_byte = m_options.compute_per_byte};
        return {what, ranks, what == operation::all_gather ? m_options.gather_bytes : m_options.bytes, model};
    }
    [[nodiscard]] auto fits(candidate const& c, setting const& s) const -> bool {
        auto const ranks = static_cast<std::size_t>(s.ranks);
        auto const pieces = static_cast<std::size_t>(is_uncut(s.what) ? 1 : c.cut(s));
        return ranks * pieces * (s.what == operation::all_gather ? ranks : 1) <= m_options.most_transfers;
    }
    void compare(setting const& s) {
        // Magnitudes are multiples of the time in which a late rank could be served, whoever serves it.
        auto const served = s.what == operation::all_gather
                                ? s.model.transfer_time(s.bytes * static_cast<std::size_t>(s.ranks - 1))
                                : s.model.transfer_time(s.bytes);
        m_balanced.clear();
        for (auto const& c : m_candidates)
            if (std::count(c.operations.begin(), c.operations.end(), s.what) > 0 && !fits(c, s))
                std::fprintf(stderr, "%s at %d ranks leaves out %s: more than %zu transfers\n",
                             std::string(name_of(s.what)).c_str(), s.ranks, std::string(c.name).c_str(),
                             m_options.most_transfers);
        compare(s, arrival_shape::no_delay, 0, ticks{0});
        for (auto const shape : all_arrival_shapes())
            for (double const magnitude : m_options.magnitudes)
                if (shape != arrival_shape::no_delay)
                    compare(s, shape, magnitude,
                            ticks{std::llround(magnitude * static_cast<double>(served.count()))});
    }
    void compare(setting const& s, arrival_shape shape, double magnitude, ticks most) {
        auto const arrivals = arrival_pattern(shape, s.ranks, most, m_options.seed);
        auto const least = bound(s, arrivals).exit() - *std::max_element(arrivals.begin(), arrivals.end());
        for (auto const& c : m_candidates) {
            if (std::count(c.operations.begin(), c.operations.end(), s.what) == 0 || !fits(c, s)) continue;
            auto const result = c.run(s, arrivals);
            if (shape == arrival_shape::no_delay) m_balanced[c.name] = run_time(arrivals, result.exits);
            auto const ratio = delay_over_bound(arrivals, result.exits, least);
            print(s, shape, magnitude, arrivals, c.name, result, least, ratio);
            if (ratio < 0.999) // blocks round their times
                throw std::logic_error(std::string(c.name) + " beats the bound: one of the two is wrong");
        }
    }
    void print(setting const& s, arrival_shape shape, double magnitude, std::vector<ticks> const& arrivals,
               std::string_view name, outcome const& result, ticks least, double ratio) {
        auto const us = [](ticks time) { return static_cast<double>(time.count()) * 1e-3; };
        auto const operation = std::string(name_of(s.what)), pattern = std::string(to_string(shape));
        std::printf("%-16s %7d %-13s %9g %-26s %7d %14.2f %8.3f\n", operation.c_str(), s.ranks,
                    pattern.c_str(), magnitude, std::string(name).c_str(), result.blocks,
                    us(last_delay(arrivals, result.exits)), ratio);
        m_document.add({{"operation", operation},
                        {"ranks", s.ranks},
                        {"bytes", s.bytes},
                        {"pattern", pattern},
                        {"factor", magnitude},
                        {"imbalance_us", us(imbalance(arrivals))},
                        {"scheduler", name},
                        {"segments", result.blocks},
                        {"transfers", result.transfers},
                        {"bound_us", us(least)},
                        {"last_delay_us", us(last_delay(arrivals, result.exits))},
                        {"ratio", ratio},
                        {"total_delay_us", us(total_delay(arrivals, result.exits))},
                        {"mean_elapsed_us", us(mean_elapsed(arrivals, result.exits))},
                        {"absorption_us", us(absorption(arrivals, result.exits, m_balanced.at(name)))}});
    }

    options m_options;
    document m_document;
    std::vector<candidate> m_candidates = candidates();
    std::map<std::string_view, ticks> m_balanced; // run time of each candidate when all arrive together
};

} // namespace

void add_model_schedulers(program& all, CLI::App& group) {
    auto const o = std::make_shared<options>();
    auto const compare = [o] {
        comparison(*o).run();
        return 0;
    };
    auto& app = all.add_to(group, "schedulers", "All schedulers under all arrival patterns", compare);
    add_option(app, "--ranks", o->ranks, "numbers of ranks", between(2, 10'000'000));
    add_option(app, "--gather-ranks", o->gather_ranks, "numbers of ranks of an all-gather",
               between(2, 100'000));
    std::vector<std::string> const known(operation_names.begin(), operation_names.end());
    add_option(app, "--operations", o->operations, "which to compare", one_of(known));
    add_option(app, "--magnitudes", o->magnitudes, "latest arrival, in times to send the data");
    add_option(app, "--bytes", o->bytes, "of a reduction or broadcast");
    add_option(app, "--gather-bytes", o->gather_bytes, "of each rank in an all-gather");
    add_option(app, "--most-transfers", o->most_transfers, "leave out larger schedules");
    add_option(app, "--latency", o->latency_us, "of a message, microseconds");
    add_option(app, "--per-byte", o->per_byte, "nanoseconds");
    add_option(app, "--compute-per-byte", o->compute_per_byte, "nanoseconds to combine a byte");
    add_seed(app, o->seed);
    add_json(app, o->json);
}

} // namespace bench
