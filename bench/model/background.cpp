// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// papcoll-bench model background: all-gathers under arrival patterns in the one-ported model: last delay and
// mean elapsed time, in block times.
//
// One rank's blocks take one block time, of which 1/500 is latency. The regular algorithms begin with the
// ranks' arrivals; for the background ones a thread takes part from the first arrival on. Every schedule is
// verified where that is affordable, and the exit status tells.
#include <papcoll/analysis/metrics.hpp>
#include <papcoll/analysis/verify.hpp>
#include <papcoll/arrival/patterns.hpp>
#include <papcoll/scheduler/arrival_all_reduce.hpp>
#include <papcoll/scheduler/background_circulant.hpp>
#include <papcoll/scheduler/background_ring.hpp>
#include <papcoll/scheduler/gather_broadcast.hpp>
#include <papcoll/scheduler/neighbor_exchange.hpp>
#include <papcoll/scheduler/ring.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../../test/support/all_reduce_model.hpp"
#include "../../test/support/background_model.hpp"
#include "model.hpp"

namespace bench {
namespace {

using papcoll::problem;
using papcoll::ticks;

constexpr ticks block_time{10'000'000};
constexpr ticks latency = block_time / 500;

struct all_gather {
    int ranks;
    int pieces;
    std::vector<int> owners;

    all_gather(int p, int n)
        : ranks(p)
        , pieces(n) {
        for (int b = 0; b < p * n; ++b) owners.push_back(b / n);
    }
    [[nodiscard]] auto with(std::vector<ticks> const& arrivals) const -> problem {
        return {.ranks = ranks, .blocks = ranks * pieces, .arrivals = arrivals, .owners = owners};
    }
};

struct measures {
    double last_delay, mean_elapsed;
};

bool all_right = true;

// `predicted` is what the schedule is made for, `arrivals` when the ranks do arrive.
template <class Scheduler>
auto measured(Scheduler const& s, all_gather const& gather, std::vector<ticks> const& predicted,
              std::vector<ticks> const& arrivals, bool background) -> measures {
    auto all = transfers(s, gather.with(predicted));
    std::sort(all.begin(), all.end());
    auto const p = gather.with(arrivals);
    if (p.ranks <= 64) {
        if (auto const violation = verify_dissemination(all, p)) {
            std::printf("WRONG: %s\n", violation->c_str());
            all_right = false;
        }
    }
    background_model const model{latency, (block_time - latency) / gather.pieces, background};
    auto const exits = model.exits(all, p);
    auto const in_block_times = [](ticks t) {
        return static_cast<double>(t.count()) / static_cast<double>(block_time.count());
    };
    return {in_block_times(papcoll::last_delay(arrivals, exits)),
            in_block_times(papcoll::mean_elapsed(arrivals, exits))};
}

auto pieces_for(int ranks) -> int { return ranks <= 256 ? 16 : 8; }
auto background_ring() -> papcoll::background_ring_scheduler { return {.block_time = block_time}; }
auto background_circulant() -> papcoll::background_circulant_scheduler {
    return {.block_time = block_time, .latency = latency};
}

void row(std::string const& name, int ranks, std::vector<ticks> const& arrivals) {
    all_gather const whole(ranks, 1);
    all_gather const cut(ranks, pieces_for(ranks));
    std::vector<measures> const results{
        measured(papcoll::ring_scheduler{}, whole, arrivals, arrivals, false),
        measured(papcoll::neighbor_exchange_scheduler{}, whole, arrivals, arrivals, false),
        measured(papcoll::gather_broadcast_scheduler{}, cut, {}, arrivals, false),
        measured(papcoll::gather_broadcast_scheduler{}, cut, arrivals, arrivals, true),
        measured(background_ring(), whole, arrivals, arrivals, true),
        measured(background_circulant(), cut, arrivals, arrivals, true)};
    std::printf("| %s |", name.c_str());
    for (auto const& m : results) std::printf(" %.2f / %.2f |", m.last_delay, m.mean_elapsed);
    auto const regular =
        std::min({results[0].mean_elapsed, results[1].mean_elapsed, results[2].mean_elapsed});
    std::printf(" %.2f | %.2f |\n", regular / results[4].mean_elapsed, regular / results[5].mean_elapsed);
    std::fflush(stdout);
}

auto one_late(int ranks, ticks delay) -> std::vector<ticks> {
    std::vector<ticks> arrivals(static_cast<std::size_t>(ranks));
    arrivals[static_cast<std::size_t>(ranks / 3)] = delay;
    return arrivals;
}

void tables(int ranks) {
    std::printf("\n### %d ranks, %d pieces\n\n", ranks, pieces_for(ranks));
    std::printf(
        "| arrivals | ring | neighbour exchange | gather + broadcast | the same, sorted, in background | "
        "background ring | background circulant | gain ring | gain circulant |\n"
        "|---|---|---|---|---|---|---|---|---|\n");
    row("all together", ranks, one_late(ranks, ticks{0}));
    for (auto const& [name, delay] : std::vector<std::pair<std::string, ticks>>{
             {"one late by 0.1", block_time / 10},
             {"one late by 0.5", block_time / 2},
             {"one late by 2", 2 * block_time},
             {"one late by P/2", block_time * ranks / 2},
             {"one late by P", block_time * ranks},
             {"one late by 2 P", 2 * block_time * ranks},
         })
        row(name, ranks, one_late(ranks, delay));
    auto two = one_late(ranks, 2 * block_time * ranks);
    two.back() = two[static_cast<std::size_t>(ranks / 3)];
    row("two late by 2 P", ranks, two);
    two.back() += 3 * block_time;
    row("two late by 2 P and 2 P + 3", ranks, two);
    using enum papcoll::arrival_shape;
    auto const shapes =
        ranks > 256 ? std::vector{random} : std::vector{random, ascending, descending, bell, half_delayed};
    for (auto const shape : shapes)
        for (int const magnitude : {1, 5, 10, 2 * ranks})
            row(std::string(to_string(shape)) + ", " + std::to_string(magnitude), ranks,
                papcoll::arrival_pattern(shape, ranks, magnitude * block_time));
}

// What wrong predictions cost: mean elapsed time divided by that with true ones.
void wrong_predictions(int ranks) {
    std::printf("\n### %d ranks, delays uniform in [0, 2 P], predictions wrong\n\n"
                "| predicted | background ring | background circulant |\n|---|---|---|\n",
                ranks);
    auto const truth =
        papcoll::arrival_pattern(papcoll::arrival_shape::random, ranks, 2 * ranks * block_time);
    auto reversed = truth;
    auto const most = *std::max_element(truth.begin(), truth.end());
    for (auto& a : reversed) a = most - a;
    auto noisy = truth;
    auto const noise =
        papcoll::arrival_pattern(papcoll::arrival_shape::random, ranks, block_time * ranks / 5, 9);
    for (std::size_t r = 0; r < noisy.size(); ++r) noisy[r] += noise[r];
    auto forgotten = truth;
    *std::max_element(forgotten.begin(), forgotten.end()) = ticks{0};
    for (auto const& [name, predicted] : std::vector<std::pair<std::string, std::vector<ticks>>>{
             {"true", truth},
             {"noise up to P/5", noisy},
             {"constant", std::vector<ticks>(truth.size())},
             {"the last rank first", forgotten},
             {"random",
              papcoll::arrival_pattern(papcoll::arrival_shape::random, ranks, 2 * ranks * block_time, 77)},
             {"reversed", reversed}}) {
        auto const ring = measured(background_ring(), all_gather(ranks, 1), predicted, truth, true);
        auto const circulant =
            measured(background_circulant(), all_gather(ranks, pieces_for(ranks)), predicted, truth, true);
        std::printf("| %s | %.2f / %.2f | %.2f / %.2f |\n", name.c_str(), ring.last_delay, ring.mean_elapsed,
                    circulant.last_delay, circulant.mean_elapsed);
    }
}

// As background_model, of blocks that move alone, but a receiver takes what comes first: of the messages that
// are next on their senders the one that can begin first does.
auto exits_in_any_order(std::vector<papcoll::transfer> const& schedule, std::vector<ticks> const& arrivals)
    -> std::vector<ticks> {
    auto const ranks = arrivals.size();
    auto const at = [](int i) { return static_cast<std::size_t>(i); };
    std::vector<std::vector<papcoll::transfer>> left(ranks); // the next one at the end
    for (auto t = schedule.rbegin(); t != schedule.rend(); ++t) left[at(t->from)].push_back(*t);
    std::vector<ticks> sender_free(ranks), receiver_free(ranks), has(ranks * ranks, ticks::max()),
        exits = arrivals;
    for (std::size_t r = 0; r < ranks; ++r) has[r * ranks + r] = arrivals[r];
    while (true) {
        std::vector<papcoll::transfer>* first = nullptr;
        auto earliest = ticks::max();
        for (std::size_t r = 0; r < ranks; ++r) {
            if (left[r].empty()) continue;
            auto const& t = left[r].back();
            auto const begin =
                std::max({has[r * ranks + at(t.block)], sender_free[r], receiver_free[at(t.to)]});
            if (begin == ticks::max() || begin > earliest) continue;
            if (begin == earliest && t.step >= first->back().step) continue;
            earliest = begin;
            first = &left[r];
        }
        if (first == nullptr) return exits;
        auto const t = first->back();
        first->pop_back();
        auto const end = earliest + block_time;
        has[at(t.to) * ranks + at(t.block)] = sender_free[at(t.from)] = receiver_free[at(t.to)] = end;
        for (int const rank : {t.from, t.to}) exits[at(rank)] = std::max(exits[at(rank)], end);
    }
}

// How much longer all stay than with the ring, in block times.
void print_excess(int ranks, std::vector<ticks> const& predicted, std::vector<ticks> const& truth) {
    all_gather const whole(ranks, 1);
    auto const ring = measured(papcoll::ring_scheduler{}, whole, {}, truth, false);
    auto const in_order = measured(background_ring(), whole, predicted, truth, true);
    auto all = transfers(background_ring(), whole.with(predicted));
    std::sort(all.begin(), all.end());
    auto const exits = exits_in_any_order(all, truth);
    auto const in_block_times = [](ticks t) {
        return static_cast<double>(t.count()) / static_cast<double>(block_time.count());
    };
    std::printf(" %+.1f, %+.1f; %+.1f, %+.1f |", in_order.mean_elapsed - ring.mean_elapsed,
                in_order.last_delay - ring.last_delay,
                in_block_times(papcoll::mean_elapsed(truth, exits)) - ring.mean_elapsed,
                in_block_times(papcoll::last_delay(truth, exits)) - ring.last_delay);
}

// The last rank is predicted to be the first. Paper 4, section 3.1: at most P − 2 block times more.
void worst_predictions() {
    std::printf(
        "\n### The last rank predicted to be the first: background ring minus ring\n\nMean elapsed time, "
        "last delay; the same where receivers take what comes first.\n\n| ranks | P - 2 | the others "
        "together |");
    std::vector<int> const magnitudes{1, 2, 4, 16, 64};
    for (int const m : magnitudes) std::printf(" uniform in [0, %d P] |", m);
    std::printf(
        " together, predicted 2 P apart | P (P - 1) / 2 - 1 |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (int const ranks : {8, 16, 32}) {
        std::printf("| %d | %d |", ranks, ranks - 2);
        auto const late = static_cast<std::size_t>(ranks / 3);
        auto const truth = one_late(ranks, 100 * ranks * block_time);
        auto predicted = std::vector<ticks>(truth.size(), truth[late]);
        predicted[late] = ticks{0};
        print_excess(ranks, predicted, truth);
        for (int const m : magnitudes) {
            auto const drawn =
                papcoll::arrival_pattern(papcoll::arrival_shape::random, ranks, m * ranks * block_time);
            auto forgotten = drawn;
            *std::max_element(forgotten.begin(), forgotten.end()) = ticks{0};
            print_excess(ranks, forgotten, drawn);
        }
        for (std::size_t r = 0; r < predicted.size(); ++r) {
            auto const behind = static_cast<int>((r + predicted.size() - late) % predicted.size());
            predicted[r] = block_time * (behind == 0 ? 0 : 1 + 2 * ranks * behind);
        }
        print_excess(ranks, predicted, truth);
        std::printf(" %d |\n", ranks * (ranks - 1) / 2 - 1);
    }
}

// All-reduce: last delays in units of the time that all data take on one link.
auto all_reduce_delay(int ranks, std::vector<ticks> const& predicted, std::vector<ticks> const& arrivals)
    -> double {
    int const blocks = ranks * std::max(1, 64 / ranks);
    papcoll::arrival_all_reduce_scheduler const s{.transfer_time = block_time, .latency = latency / 10};
    std::vector<papcoll::transfer> all;
    for (int rank = 0; rank < ranks; ++rank) {
        auto const share = s.for_rank({.ranks = ranks, .blocks = blocks, .arrivals = predicted}, rank);
        for (auto const& half : {share.reduction, share.dissemination})
            for (auto const& t : half.sends) all.push_back({t.step, rank, t.peer, t.block});
    }
    problem const p{.ranks = ranks, .blocks = blocks, .arrivals = arrivals};
    auto const exits = all_reduce_exits(std::move(all), p, latency / 10, block_time / blocks);
    return static_cast<double>(papcoll::last_delay(arrivals, exits).count()) /
           static_cast<double>(block_time.count());
}

void all_reduce_table(std::vector<int> const& ranks) {
    std::printf("\n### All-reduce: last delay ÷ time of all data on one link, blind / aware\n\n| arrivals |");
    for (int const p : ranks) std::printf(" %d ranks |", p);
    std::printf("\n|---|");
    for (std::size_t i = 0; i < ranks.size(); ++i) std::printf("---|");
    std::printf("\n");
    using enum papcoll::arrival_shape;
    for (auto const shape :
         {no_delay, first_delayed, last_delayed, random, ascending, descending, bell, half_delayed})
        for (int const tenths : {5, 20, 40, 200}) {
            if (shape == no_delay && tenths != 5) continue;
            std::printf("| %s, %.1f |", std::string(to_string(shape)).c_str(), tenths / 10.0);
            for (int const p : ranks) {
                auto const arrivals = papcoll::arrival_pattern(shape, p, block_time * tenths / 10);
                std::printf(" %.2f / %.2f |", all_reduce_delay(p, {}, arrivals),
                            all_reduce_delay(p, arrivals, arrivals));
            }
            std::printf("\n");
        }
}

template <class Scheduler>
auto milliseconds_of_share(Scheduler const& s, problem const& p) -> double {
    double least = 1e9;
    for (int repetition = 0; repetition < 3; ++repetition) {
        auto const begin = std::chrono::steady_clock::now();
        auto const share = s.for_rank(p, p.ranks / 2);
        auto const end = std::chrono::steady_clock::now();
        if (share.receives.empty() && p.ranks > 1) all_right = false;
        least = std::min(least, std::chrono::duration<double, std::milli>(end - begin).count());
    }
    return least;
}

void share_times() {
    std::printf(
        "\n### One rank's share of the schedule, ms (best of 3)\n\n"
        "| ranks | arrivals | background ring | background circulant, 16 pieces |\n|---|---|---|---|\n");
    for (int const ranks : {64, 1024, 4096})
        for (int const magnitude : {1, 2 * ranks}) {
            auto const arrivals =
                papcoll::arrival_pattern(papcoll::arrival_shape::random, ranks, magnitude * block_time);
            all_gather const whole(ranks, 1);
            all_gather const cut(ranks, 16);
            std::printf("| %d | random, %d | %.2f | %.2f |\n", ranks, magnitude,
                        milliseconds_of_share(background_ring(), whole.with(arrivals)),
                        milliseconds_of_share(background_circulant(), cut.with(arrivals)));
        }
}

} // namespace

void add_model_background(program& all, CLI::App& group) {
    auto const ranks = std::make_shared<std::vector<int>>(std::vector<int>{8, 16, 64, 256});
    auto const run = [ranks] {
        std::printf(
            "Last delay / mean elapsed time in block times; gain: best mean elapsed time of the first "
            "three columns divided by that of the background ring or circulant.\n");
        for (int const p : *ranks) tables(p);
        wrong_predictions(ranks->size() > 1 ? (*ranks)[1] : ranks->front());
        worst_predictions();
        all_reduce_table(*ranks);
        share_times();
        return all_right ? 0 : 1;
    };
    auto& app =
        all.add_to(group, "background", "All-gathers that begin early, in block times: Markdown tables", run);
    add_option(app, "--ranks", *ranks, "numbers of ranks", between(2, 100'000));
}

} // namespace bench
