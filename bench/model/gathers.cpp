// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// papcoll-bench model gathers: tables 3 and 4 of paper 4, 12 numbers of ranks, 5 sizes and 7 delays, in the
// one-ported model, beside what was published.
//
// As there the links carry 1 Gbit/s, of which TCP leaves 1448 of 1514 bytes, and delays are drawn uniformly
// from 0 to so many milliseconds. τ, the time of one rank's part, is the latency and its bytes on the link.
#include <papcoll/analysis/metrics.hpp>
#include <papcoll/arrival/patterns.hpp>
#include <papcoll/scheduler/background_circulant.hpp>
#include <papcoll/scheduler/background_ring.hpp>
#include <papcoll/scheduler/gather_broadcast.hpp>
#include <papcoll/scheduler/neighbor_exchange.hpp>
#include <papcoll/scheduler/ring.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../test/support/background_model.hpp"
#include "../support/options.hpp"
#include "model.hpp"
#include "published_gathers.hpp"

namespace bench {
namespace {

using papcoll::ticks;

struct gathers_settings {
    int draws = 16;
    double latency_us = 50;
    std::string rate = "1gbit";
    std::uint64_t seed = 1;
};

/// One number of ranks and one size, in which every rank's part is cut into `pieces` or moves as a whole.
struct gathering {
    int ranks;
    int pieces;
    ticks latency;
    ticks part; ///< on the link, without the latency
    std::vector<int> owners, pieces_owners;

    gathering(int p, std::size_t kilofloats, gathers_settings const& s)
        : ranks(p)
        , latency(static_cast<ticks::rep>(s.latency_us * 1e3)) {
        auto const bytes = kilofloats * 1024 * sizeof(float) / static_cast<std::size_t>(p);
        part = ticks{static_cast<ticks::rep>(parse_rate(s.rate).nanoseconds(bytes))};
        pieces = static_cast<int>(std::clamp<std::size_t>(bytes / 8192, 1, 16));
        for (int b = 0; b < p; ++b) owners.push_back(b);
        for (int b = 0; b < p * pieces; ++b) pieces_owners.push_back(b / pieces);
    }
    [[nodiscard]] auto block_time() const -> ticks { return latency + part; }

    /// The mean elapsed time; `known`: the scheduler knows the arrivals, and takes part from the first one
    /// on.
    template <class Scheduler>
    [[nodiscard]] auto elapsed(Scheduler const& s, bool cut, bool known,
                               std::vector<ticks> const& arrivals) const -> double {
        auto const& of = cut ? pieces_owners : owners;
        int const n = cut ? pieces : 1;
        papcoll::problem p{
            .ranks = ranks, .blocks = static_cast<int>(of.size()), .arrivals = {}, .owners = of};
        if (known) p.arrivals = arrivals;
        auto all = transfers(s, p);
        std::sort(all.begin(), all.end());
        p.arrivals = arrivals;
        background_model const model{latency, part / n, known};
        return static_cast<double>(papcoll::mean_elapsed(arrivals, model.exits(all, p)).count());
    }
};

/// Sums over the draws.
struct sums {
    double nex = 0, lnbc = 0, ring = 0, bslb = 0, bdr = 0, circulant = 0;

    [[nodiscard]] auto regular() const -> double { return std::min({nex, lnbc, ring}); }
    /// As published: the best of the paper's five, with its factor where it knows arrivals.
    [[nodiscard]] auto winner() const -> std::string {
        if (auto const best = std::min(bslb, bdr); best * 1.005 < regular())
            return (best < bdr ? "BSLB" : "BDR") + two_digits(regular() / best);
        if (nex <= std::min(ring, lnbc)) return "NEX";
        return ring <= lnbc ? "RING" : "LNBC";
    }
    static auto two_digits(double value) -> std::string {
        std::array<char, 16> text{};
        std::snprintf(text.data(), text.size(), "%.2f", value);
        return text.data();
    }
};

auto measure(gathering const& g, int delay_ms, gathers_settings const& s) -> sums {
    sums all;
    int const draws = delay_ms == 0 ? 1 : s.draws;
    for (int i = 0; i < draws; ++i) {
        auto const arrivals = papcoll::arrival_pattern(papcoll::arrival_shape::random, g.ranks,
                                                       std::chrono::milliseconds(delay_ms),
                                                       s.seed + static_cast<std::uint64_t>(i));
        all.nex += g.elapsed(papcoll::neighbor_exchange_scheduler{}, false, false, arrivals);
        all.ring += g.elapsed(papcoll::ring_scheduler{}, false, false, arrivals);
        all.lnbc += g.elapsed(papcoll::gather_broadcast_scheduler{}, true, false, arrivals);
        all.bslb += g.elapsed(papcoll::gather_broadcast_scheduler{}, true, true, arrivals);
        all.bdr += g.elapsed(papcoll::background_ring_scheduler{g.block_time()}, false, true, arrivals);
        all.circulant += g.elapsed(papcoll::background_circulant_scheduler{g.block_time(), g.latency}, true,
                                   true, arrivals);
    }
    return all;
}

/// What is told of a number of ranks.
struct summary {
    double bdr = 0, published_bdr = 0, published_bslb = 0, circulant = 0, least = 1e9, least_to_ring = 1e9;
    int same = 0, cells = 0;
};

auto factor_in(std::string_view winner, std::string_view name) -> double {
    if (winner.substr(0, name.size()) != name) return 0;
    return std::stod(std::string(winner.substr(name.size())));
}
auto kind_of(std::string_view winner) -> std::string_view { return winner.substr(0, 4); }
/// The regular ones are alike: the network decides which is best.
auto are_alike(std::string_view a, std::string_view b) -> bool {
    auto const knows = [](std::string_view w) { return w.front() == 'B'; };
    return knows(a) == knows(b) && (!knows(a) || kind_of(a) == kind_of(b));
}

void print_row(published_gathers const& row, gathers_settings const& s, summary& sum) {
    gathering const g(row.ranks, static_cast<std::size_t>(row.kilofloats), s);
    std::printf("| %d, %.2f ms |", row.kilofloats, static_cast<double>(g.block_time().count()) * 1e-6);
    for (std::size_t i = 0; i < row.winners.size(); ++i) {
        auto const found = measure(g, published_delays_ms[i], s);
        auto const winner = found.winner();
        auto const& published = row.winners[i];
        std::printf(" %s / %.*s |", winner.c_str(), static_cast<int>(published.size()), published.data());
        sum.bdr = std::max(sum.bdr, found.regular() / found.bdr);
        sum.least = std::min(sum.least, found.regular() / found.bdr);
        sum.least_to_ring = std::min(sum.least_to_ring, found.ring / found.bdr);
        sum.circulant = std::max(sum.circulant, found.regular() / found.circulant);
        sum.published_bdr = std::max(sum.published_bdr, factor_in(published, "BDR"));
        sum.published_bslb = std::max(sum.published_bslb, factor_in(published, "BSLB"));
        sum.same += are_alike(winner, published) ? 1 : 0;
        ++sum.cells;
    }
    std::printf("\n");
    std::fflush(stdout);
}

auto run_gathers(gathers_settings const& s) -> int {
    std::printf(
        "Model / published: the algorithm with the least mean elapsed time, with its factor over the "
        "best of NEX, RING and LNBC where it knows the arrivals. %s, latency %g us, mean of %d draws; "
        "delays in τ are the columns' ms divided by τ.\n",
        s.rate.c_str(), s.latency_us, s.draws);
    std::vector<std::pair<int, summary>> all;
    for (auto const& row : published_tables) {
        if (all.empty() || all.back().first != row.ranks) {
            all.emplace_back(row.ranks, summary());
            std::printf("\n### %d ranks\n\n| Ki floats, τ |", row.ranks);
            for (int const delay : published_delays_ms) std::printf(" %d ms |", delay);
            std::printf("\n|---|---|---|---|---|---|---|---|\n");
        }
        print_row(row, s, all.back().second);
    }
    std::printf(
        "\n### Summary\n\n| ranks | BDR at best, model | published | BDR at worst, model | beside RING | "
        "BSLB at best, "
        "published | background circulant at best, model | alike |\n|---|---|---|---|---|---|---|---|\n");
    int same = 0, cells = 0;
    for (auto const& [ranks, of] : all) {
        auto const published_bslb = of.published_bslb > 0 ? sums::two_digits(of.published_bslb) : "-";
        std::printf("| %d | %.2f | %.2f | %.2f | %.2f | %s | %.2f | %d of %d |\n", ranks, of.bdr,
                    of.published_bdr, of.least, of.least_to_ring, published_bslb.c_str(), of.circulant,
                    of.same, of.cells);
        same += of.same;
        cells += of.cells;
    }
    std::printf(
        "\nAlike (a regular one best in both, or the same one that knows arrivals): %d of %d cells.\n", same,
        cells);
    return 0;
}

} // namespace

void add_model_gathers(program& all, CLI::App& group) {
    auto const s = std::make_shared<gathers_settings>();
    auto& app = all.add_to(group, "gathers", "Tables 3 and 4 of paper 4 beside what was published: Markdown",
                           [s] { return run_gathers(*s); });
    add_option(app, "--draws", s->draws, "of delays for each cell", positive);
    add_option(app, "--latency-us", s->latency_us, "", not_negative);
    add_option(app, "--rate", s->rate, "of a link");
    add_seed(app, s->seed);
}

} // namespace bench
