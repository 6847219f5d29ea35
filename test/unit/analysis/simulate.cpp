// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/analysis/metrics.hpp>
#include <papcoll/analysis/simulate.hpp>
#include <papcoll/scheduler/circulant.hpp>
#include <papcoll/scheduler/clairvoyant.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <map>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/random_reduction.hpp"

using papcoll::circulant_reduction_scheduler;
using papcoll::circulant_scheduler;
using papcoll::cost_model;
using papcoll::participation;
using papcoll::problem;
using papcoll::schedule_kind;
using papcoll::schedule_timeline;
using papcoll::simulate;
using papcoll::simulate_timeline;
using papcoll::step_type;
using papcoll::ticks;
using papcoll::transfer;

namespace {

using times = std::vector<ticks>;

auto at(int i) -> std::size_t { return static_cast<std::size_t>(i); }

auto random_arrivals(int ranks, int most, std::uint64_t seed) -> times {
    std::mt19937_64 random(seed);
    times arrivals;
    for (int rank = 0; rank < ranks; ++rank)
        arrivals.emplace_back(static_cast<int>(random() % static_cast<std::uint64_t>(most + 1)) - most / 2);
    return arrivals;
}

/// Decides from the timeline alone, and by another way than the simulation, whether each message and each
/// combination began exactly when the last of what it has to wait for was there.
class timeline_inspector {
public:
    timeline_inspector(schedule_timeline const& timeline, std::vector<transfer> schedule, cost_model model,
                       std::span<std::size_t const> bytes, schedule_kind kind, problem const& p,
                       participation part)
        : m_timeline(timeline)
        , m_schedule(std::move(schedule))
        , m_model(model)
        , m_bytes(bytes)
        , m_kind(kind)
        , m_problem(p)
        , m_part(part) {
        std::erase_if(m_schedule, [&](transfer const& t) { return size(t) == 0; });
        std::sort(m_schedule.begin(), m_schedule.end());
        for (auto const& t : timeline.transfers) m_sent[t.what] = {t.begin, t.end};
        for (auto const& t : timeline.combinations) m_combined[t.what] = {t.begin, t.end};
    }

    void run() const {
        REQUIRE(m_sent.size() == m_schedule.size());
        REQUIRE(m_timeline.transfers.size() == m_schedule.size());
        for (auto const& t : m_schedule) {
            auto const [begin, end] = m_sent.at(t);
            CHECK(begin == earliest_begin(t));
            CHECK(end - begin == m_model.transfer_time(message_bytes(t)));
        }
        processors();
        exits();
    }

private:
    using interval = std::pair<ticks, ticks>;

    [[nodiscard]] auto size(transfer const& t) const -> std::size_t { return m_bytes[at(t.block)]; }
    static auto same_message(transfer const& a, transfer const& b) -> bool {
        return std::tie(a.step, a.from, a.to) == std::tie(b.step, b.from, b.to);
    }
    [[nodiscard]] auto message_bytes(transfer const& t) const -> std::size_t {
        std::size_t sum = 0;
        for (auto const& other : m_schedule) sum += same_message(other, t) ? size(other) : 0;
        return sum;
    }
    [[nodiscard]] auto earliest_begin(transfer const& t) const -> ticks {
        auto begin = std::max(present(t.from), present(t.to));
        for (auto const& other : m_schedule) {
            if (other.from == t.from && std::tie(other.step, other.to) < std::tie(t.step, t.to))
                begin = std::max(begin, m_sent.at(other).second);
            if (other.to == t.to && std::tie(other.step, other.from) < std::tie(t.step, t.from))
                begin = std::max(begin, m_sent.at(other).second);
            if (!same_message(other, t)) continue;
            begin = std::max(begin, taken_before(t.from, other.block, other.step));
        }
        return begin;
    }
    [[nodiscard]] auto present(int rank) const -> ticks {
        return m_part == participation::background
                   ? *std::min_element(m_timeline.arrivals.begin(), m_timeline.arrivals.end())
                   : m_timeline.arrivals[at(rank)];
    }
    /// When a rank's own data is there, if it has any of this block.
    [[nodiscard]] auto initial(int rank, int block) const -> ticks {
        bool const has = m_kind == schedule_kind::reduction || m_problem.owner(block) == rank;
        return has ? m_timeline.arrivals[at(rank)] : present(rank);
    }
    /// When everything that `rank` receives of the block before this step is stored or combined.
    [[nodiscard]] auto taken_before(int rank, int block, step_type step) const -> ticks {
        ticks taken = initial(rank, block);
        for (auto const& t : m_schedule)
            if (t.to == rank && t.block == block && t.step < step) taken = std::max(taken, this->taken(t));
        return taken;
    }
    [[nodiscard]] auto taken(transfer const& t) const -> ticks {
        auto const combined = m_combined.find(t);
        return combined == m_combined.end() ? ready(t) : combined->second.second;
    }
    /// When a received block may be stored or join the queue of the processor. What the rank had of it before
    /// it gave it away does not matter.
    [[nodiscard]] auto ready(transfer const& t) const -> ticks {
        transfer const* given = nullptr;
        for (auto const& other : m_schedule)
            if (m_kind == schedule_kind::reduction && other.block == t.block && other.from == t.to &&
                other.step < t.step)
                given = &other;
        auto time =
            given != nullptr ? m_sent.at(t).second : std::max(m_sent.at(t).second, initial(t.to, t.block));
        for (auto const& other : m_schedule) {
            if (other.block != t.block || (given != nullptr && other.step < given->step)) continue;
            if (other.to == t.to && std::tie(other.step, other.from) < std::tie(t.step, t.from))
                time = std::max(time, ready(other));
        }
        return time;
    }
    [[nodiscard]] auto must_combine(transfer const& t) const -> bool {
        if (m_kind == schedule_kind::dissemination || m_model.compute_time(size(t)) == ticks{0}) return false;
        transfer const* last = nullptr;
        for (auto const& other : m_schedule)
            if (other.block == t.block && (other.from == t.to || other.to == t.to) && other.step < t.step)
                last = &other;
        return last == nullptr || last->to == t.to;
    }
    void processors() const {
        for (auto const& t : m_schedule) CHECK(m_combined.contains(t) == must_combine(t));
        std::map<int, interval> before; // of the same rank: ready, end
        for (auto const& [what, begin, end] : m_timeline.combinations) {
            CHECK(end - begin == m_model.compute_time(size(what)));
            auto const now = ready(what);
            auto const previous = before.find(what.to);
            if (previous == before.end()) {
                CHECK(begin == now);
            } else {
                CHECK(begin == std::max(now, previous->second.second));
                CHECK(now >= previous->second.first);
            }
            before[what.to] = {now, end};
        }
    }
    void exits() const {
        for (std::size_t rank = 0; rank < m_timeline.arrivals.size(); ++rank) {
            auto last = m_timeline.arrivals[rank];
            for (auto const& t : m_schedule) {
                if (at(t.from) == rank || at(t.to) == rank) last = std::max(last, m_sent.at(t).second);
                if (at(t.to) == rank) last = std::max(last, taken(t));
            }
            CHECK(m_timeline.exits[rank] == last);
        }
    }

    schedule_timeline const& m_timeline;
    std::vector<transfer> m_schedule;
    cost_model m_model;
    std::span<std::size_t const> m_bytes;
    schedule_kind m_kind;
    problem m_problem;
    participation m_part;
    std::map<transfer, interval> m_sent;
    std::map<transfer, interval> m_combined;
};

template <class Scheduler>
void inspect(Scheduler const& s, problem const& p, cost_model const& model,
             std::vector<std::size_t> const& bytes) {
    CAPTURE(p.ranks);
    CAPTURE(p.blocks);
    auto const schedule = papcoll::transfers(s, p);
    CHECK(simulate(s, p, model, bytes) == simulate(schedule, p, model, bytes, Scheduler::kind));
    for (auto const part : {participation::from_arrival, participation::background}) {
        auto const timeline = simulate_timeline(schedule, p, model, bytes, Scheduler::kind, part);
        CHECK(timeline.exits == simulate(schedule, p, model, bytes, Scheduler::kind, part));
        timeline_inspector(timeline, schedule, model, bytes, Scheduler::kind, p, part).run();
    }
}

auto const models = std::array{
    cost_model{.latency = ticks{100}, .per_byte = 1.0},
    cost_model{.latency = ticks{100}, .per_byte = 1.0, .compute = ticks{30}, .compute_per_byte = 0.5},
    cost_model{.latency = ticks{10}, .per_byte = 1.0, .compute = ticks{300}},
    cost_model{.latency = ticks{}, .per_byte = 0.01, .compute = ticks{1}}};

} // namespace

TEST_CASE("every message and combination begins as soon as it may") {
    std::uint64_t seed = 1;
    for (int const ranks : {1, 2, 3, 5, 8, 13})
        for (int const blocks : {1, 2, 5})
            for (auto const& model : models) {
                auto const arrivals = random_arrivals(ranks, 1000, ++seed);
                problem const p{
                    .ranks = ranks, .root = ranks / 2, .blocks = blocks, .arrivals = arrivals, .owners = {}};
                std::vector<std::size_t> bytes(at(blocks));
                for (int b = 0; b < blocks; ++b) bytes[at(b)] = at((b * 37 + 20) % 71);
                inspect(random_reduction{seed}, p, model, bytes);
                inspect(papcoll::reversed(random_reduction{seed}), p, model, bytes);
                inspect(circulant_scheduler{}, p, model, bytes);
                inspect(circulant_reduction_scheduler{}, p, model, bytes);
                inspect(papcoll::clairvoyant_scheduler<>{.round = ticks{60}}, p, model, bytes);
                if (blocks == 5) bytes[2] = bytes[4] = 0;
                inspect(random_reduction{seed}, p, model, bytes);
            }
}

TEST_CASE("all together and p a power of two: circulant takes n - 1 + q times (α + βm)") {
    cost_model const model{.latency = ticks{50}, .per_byte = 2.0};
    for (int q = 0; q <= 6; ++q)
        for (int const n : {1, 2, 3, 7, 16}) {
            problem const p{.ranks = 1 << q, .root = (1 << q) / 3, .blocks = n};
            auto const expected = q == 0 ? ticks{0} : (n - 1 + q) * ticks{50 + 2 * 30};
            for (auto const& exits : {simulate(circulant_scheduler{}, p, model, 30),
                                      simulate(circulant_reduction_scheduler{}, p, model, 30)})
                CHECK(*std::max_element(exits.begin(), exits.end()) == expected);
        }
}

TEST_CASE("binomial tree: log p times (d + c) up, log p times d down") {
    cost_model const model{.latency = ticks{70}, .compute = ticks{25}};
    for (int q = 0; q <= 8; ++q) {
        std::vector<transfer> up;
        std::vector<transfer> down;
        for (int k = 0; k < q; ++k)
            for (int r = 0; r < 1 << q; r += 2 << k) {
                up.push_back({k, r + (1 << k), r, 0});
                down.push_back({q - 1 - k, r, r + (1 << k), 0});
            }
        problem const p{.ranks = 1 << q};
        CHECK(simulate(up, p, model, 8).front() == q * ticks{95});
        auto const exits = simulate(down, p, model, 8, schedule_kind::dissemination);
        for (int r = 0; r < 1 << q; ++r) // the root sends until the end, others begin when it reaches them
            CHECK(exits[at(r)] == (q == 0 ? ticks{0} : q * ticks{70}));
    }
}

TEST_CASE("flat tree: transfers overlap combinations") {
    for (auto const& [d, c] : {std::pair{40, 10}, {10, 40}, {20, 20}, {5, 0}})
        for (int n = 1; n <= 9; ++n) {
            std::vector<transfer> schedule;
            for (int rank = 1; rank < n; ++rank) schedule.push_back({rank, rank, 0, 0});
            cost_model const model{.latency = ticks{d}, .compute = ticks{c}};
            auto const exits = simulate(schedule, problem{.ranks = n}, model, 1);
            CHECK(exits[0] == (n == 1 ? ticks{0} : ticks{d + (n - 2) * std::max(d, c) + c}));
        }
}

TEST_CASE("pipelined chain: n - 1 + P - 1 transfers") {
    int const ranks = 6;
    int const blocks = 11;
    std::vector<transfer> schedule;
    for (int rank = 0; rank + 1 < ranks; ++rank)
        for (int block = 0; block < blocks; ++block)
            schedule.push_back({rank + block, rank, rank + 1, block});
    auto const exits =
        simulate(schedule, problem{.ranks = ranks, .blocks = blocks},
                 cost_model{.latency = ticks{3}, .per_byte = 0.5}, 8, schedule_kind::dissemination);
    for (int rank = 1; rank < ranks; ++rank)
        CHECK(exits[at(rank)] == (blocks + std::min(rank, 4)) * ticks{7});
}

TEST_CASE("transfers of equal step and ranks are one message") {
    std::vector<transfer> const one{{0, 1, 0, 0}, {0, 1, 0, 1}, {0, 1, 0, 2}};
    std::vector<transfer> const three{{0, 1, 0, 0}, {1, 1, 0, 1}, {2, 1, 0, 2}};
    problem const p{.ranks = 2, .blocks = 3};
    std::vector<std::size_t> const bytes{10, 0, 30};
    cost_model const model{.latency = ticks{100}, .per_byte = 2.0, .compute = ticks{7}};
    CHECK(simulate(one, p, model, bytes) == times{ticks{180 + 14}, ticks{180}});
    CHECK(simulate(three, p, model, bytes) == times{ticks{280 + 7}, ticks{280}}); // one of the three is empty
}

TEST_CASE("blocks are combined in the order in which they came, also those that wait for the processor") {
    std::vector<transfer> const schedule{{0, 1, 0, 0}, {1, 2, 0, 0}, {2, 1, 0, 1}, {3, 2, 0, 1}};
    auto const timeline = simulate_timeline(schedule, problem{.ranks = 3, .blocks = 2},
                                            cost_model{.latency = ticks{10}, .compute = ticks{100}}, 1);
    REQUIRE(timeline.combinations.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(timeline.combinations[i].what == schedule[i]);
        CHECK(timeline.combinations[i].begin == ticks{10 + 100 * static_cast<int>(i)});
    }
    CHECK(timeline.exits == times{ticks{410}, ticks{30}, ticks{40}});
}

TEST_CASE("sizes: one for all, one for each, a partition") {
    std::vector<transfer> const schedule{{0, 1, 0, 0}, {1, 1, 0, 1}};
    problem const p{.ranks = 2, .blocks = 2};
    cost_model const model{.latency = {}, .per_byte = 0.5};
    times const expected{ticks{10}, ticks{10}};
    CHECK(simulate(schedule, p, model, 10) == expected);
    CHECK(simulate(schedule, p, model, std::size_t{10}) == expected);
    CHECK(simulate(schedule, p, model, std::array<std::size_t, 2>{7, 13}) != expected); // 3.5 rounds to 4
    CHECK(simulate(schedule, p, model, std::vector<std::size_t>{8, 12}) == expected);
    CHECK(simulate(schedule, p, model, papcoll::bytes_of_blocks({5, 2}, 4)) == expected);
    CHECK_THROWS_WITH_AS((void)simulate(schedule, p, model, std::vector<std::size_t>{8}),
                         doctest::Contains("one for each of 2 blocks"), std::invalid_argument);
    CHECK_THROWS_WITH_AS((void)simulate(schedule, p, model, -1), doctest::Contains("negative"),
                         std::invalid_argument);
    CHECK(simulate(schedule, p, model, 0) == times(2));
}

TEST_CASE("nothing to do: exits are arrivals") {
    times const arrivals{ticks{4}, ticks{-9}, ticks{0}};
    problem const p{.ranks = 3, .arrivals = arrivals};
    CHECK(simulate({}, p, {}, 1) == arrivals);
    CHECK(simulate({}, problem{}, {}, 1) == times{ticks{0}});
    CHECK(simulate(circulant_scheduler{}, problem{.ranks = 1, .blocks = 5}, models[0], 3) == times{ticks{0}});
}

TEST_CASE("a block that comes back has memory of its own and is stored without cost") {
    // Rank 1 gives block 0 to rank 2, which comes late; rank 3 gives it a new one, rank 4 adds to that. This
    // waits for nothing: the executor, too, keeps what comes apart from what is still to leave.
    std::vector<transfer> const schedule{
        {0, 1, 2, 0}, {1, 3, 1, 0}, {2, 4, 1, 0}, {3, 4, 1, 1}, {4, 1, 0, 0}};
    times const arrivals{ticks{0}, ticks{0}, ticks{500}, ticks{0}, ticks{0}};
    problem const p{.ranks = 5, .blocks = 2, .arrivals = arrivals};
    auto const timeline =
        simulate_timeline(schedule, p, cost_model{.latency = ticks{10}, .compute = ticks{100}}, 1);
    REQUIRE(timeline.combinations.size() == 4);
    CHECK(timeline.combinations[0].what == transfer{2, 4, 1, 0});
    CHECK(timeline.combinations[0].begin == ticks{20});
    CHECK(timeline.combinations[1].what == transfer{3, 4, 1, 1});
    CHECK(timeline.combinations[1].begin == ticks{120});
    CHECK(timeline.combinations[2].what == transfer{0, 1, 2, 0});
    CHECK(timeline.transfers.back().what == transfer{4, 1, 0, 0});
    CHECK(timeline.transfers.back().begin == ticks{510});
    CHECK(timeline.exits == times{ticks{620}, ticks{520}, ticks{610}, ticks{10}, ticks{30}});
}

TEST_CASE("in the background only the rank's own data waits for it") {
    // A ring of three; rank 1 is late. The blocks of 0 and 2 go round without it.
    std::vector<transfer> const ring{{0, 0, 1, 0}, {0, 1, 2, 1}, {0, 2, 0, 2},
                                     {1, 0, 1, 2}, {1, 1, 2, 0}, {1, 2, 0, 1}};
    times const arrivals{ticks{0}, ticks{500}, ticks{30}};
    std::array const owners{0, 1, 2};
    problem const p{.ranks = 3, .blocks = 3, .arrivals = arrivals, .owners = owners};
    cost_model const model{.latency = ticks{10}};
    auto const run = [&](participation part) {
        return simulate(ring, p, model, 1, schedule_kind::dissemination, part);
    };
    CHECK(run(participation::from_arrival) == times{ticks{520}, ticks{520}, ticks{520}});
    CHECK(run(participation::background) == times{ticks{520}, ticks{520}, ticks{520}});
    // Without the order of the ring, rank 1 has everything when it arrives.
    std::vector<transfer> const early{{0, 0, 1, 0}, {0, 2, 0, 2}, {1, 0, 2, 0},
                                      {1, 2, 1, 2}, {2, 1, 0, 1}, {3, 1, 2, 1}};
    CHECK(simulate(early, p, model, 1, schedule_kind::dissemination, participation::background) ==
          times{ticks{510}, ticks{520}, ticks{520}});
    CHECK(simulate(early, p, model, 1, schedule_kind::dissemination) ==
          times{ticks{520}, ticks{530}, ticks{530}});
}

namespace {

struct early_ring { // any scheduler with pre_steps
    static constexpr auto kind = schedule_kind::dissemination;
    [[nodiscard]] auto for_rank(problem const&, int rank) const -> papcoll::rank_schedule {
        return rank == 0 ? papcoll::rank_schedule{.sends = {{0, 1, 0}}, .receives = {}}
                         : papcoll::rank_schedule{.sends = {}, .receives = {{0, 0, 0}}};
    }
    [[nodiscard]] auto pre_steps(problem const&) const -> step_type { return 1; }
};

} // namespace

TEST_CASE("schedulers with pre-steps are simulated in the background") {
    times const arrivals{ticks{0}, ticks{500}};
    problem const p{.ranks = 2, .arrivals = arrivals, .owners = {}};
    cost_model const model{.latency = ticks{10}};
    CHECK(simulate(early_ring{}, p, model, 1) == times{ticks{10}, ticks{500}});
    auto const timeline = simulate_timeline(early_ring{}, p, model, 1);
    CHECK(timeline.exits == times{ticks{10}, ticks{500}});
    CHECK(timeline.transfers.front().begin == ticks{0});
}

TEST_CASE("any order of the transfers and any numbering of the steps give the same times") {
    auto const arrivals = random_arrivals(9, 3000, 3);
    problem const p{.ranks = 9, .blocks = 6, .arrivals = arrivals};
    auto schedule = random_reduction{5}.transfers(p);
    auto const expected = simulate(schedule, p, models[1], 64);
    std::mt19937_64 random(2);
    std::shuffle(schedule.begin(), schedule.end(), random);
    CHECK(simulate(schedule, p, models[1], 64) == expected);
    for (auto& t : schedule) t.step = 1'000'000'007 * t.step - 9'000'000'000;
    CHECK(simulate(schedule, p, models[1], 64) == expected);
    CHECK(simulate(schedule, p, models[1], 64) == expected);
}

TEST_CASE("moving all arrivals moves all exits; a rank that comes later makes nobody leave earlier") {
    std::mt19937_64 random(7);
    for (int const ranks : {2, 5, 8, 11})
        for (int const blocks : {1, 6}) {
            auto const arrivals = random_arrivals(ranks, 4000, random());
            problem p{
                .ranks = ranks, .root = ranks - 1, .blocks = blocks, .arrivals = arrivals, .owners = {}};
            auto const schedule = papcoll::transfers(circulant_reduction_scheduler{}, p);
            auto const exits = simulate(schedule, p, models[1], 64);
            auto moved = arrivals;
            for (auto& time : moved) time += std::chrono::hours(-30);
            p.arrivals = moved;
            auto const moved_exits = simulate(schedule, p, models[1], 64);
            for (int r = 0; r < ranks; ++r)
                CHECK(exits[at(r)] - moved_exits[at(r)] == std::chrono::hours(30));
            for (int late = 0; late < ranks; ++late) {
                auto later = arrivals;
                later[at(late)] += ticks{777};
                p.arrivals = later;
                auto const later_exits = simulate(schedule, p, models[1], 64);
                for (int r = 0; r < ranks; ++r) CHECK(later_exits[at(r)] >= exits[at(r)]);
            }
        }
}

TEST_CASE("a rank that comes later makes nobody leave earlier, whatever the reduction") {
    // In the background only where no block comes back to who gave it away.
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        for (auto const& model : models) {
            auto const arrivals = random_arrivals(7, 2000, seed);
            problem p{.ranks = 7, .root = 2, .blocks = 4, .arrivals = arrivals, .owners = {}};
            auto const check = [&](std::vector<transfer> const& schedule, participation part) {
                auto const exits = simulate(schedule, p, model, 64, schedule_kind::reduction, part);
                for (int late = 0; late < 7; ++late) {
                    auto later = arrivals;
                    later[at(late)] += ticks{333};
                    p.arrivals = later;
                    auto const later_exits = simulate(schedule, p, model, 64, schedule_kind::reduction, part);
                    for (int r = 0; r < 7; ++r) CHECK(later_exits[at(r)] >= exits[at(r)]);
                }
                p.arrivals = arrivals;
            };
            check(papcoll::transfers(random_reduction{seed}, p), participation::from_arrival);
            auto const schedule = papcoll::transfers(papcoll::clairvoyant_scheduler<>{.round = ticks{90}}, p);
            check(schedule, participation::from_arrival);
            check(schedule, participation::background);
        }
}

TEST_CASE("nothing beats the bounds") {
    std::uint64_t seed = 0;
    cost_model const model{
        .latency = ticks{20}, .per_byte = 1.0, .compute = ticks{5}, .compute_per_byte = 0.2};
    for (int const ranks : {2, 3, 5, 8, 13})
        for (int const blocks : {1, 2, 8}) {
            auto const arrivals = random_arrivals(ranks, 2000, ++seed);
            problem const p{.ranks = ranks, .root = 1, .blocks = blocks, .arrivals = arrivals, .owners = {}};
            auto const last = *std::max_element(arrivals.begin(), arrivals.end());
            auto const arrivals_kept = [&](times const& exits) {
                for (int r = 0; r < ranks; ++r) CHECK(exits[at(r)] >= arrivals[at(r)]);
                return *std::max_element(exits.begin(), exits.end()) - last;
            };
            // All blocks pass a port of the rank that comes last, each in a message of its own or together.
            auto const separate = blocks * model.transfer_time(64);
            auto const together = model.transfer_time(64 * at(blocks));
            auto const combined = model.compute_time(64);
            CHECK(arrivals_kept(simulate(circulant_scheduler{}, p, model, 64)) >= separate);
            CHECK(arrivals_kept(simulate(circulant_reduction_scheduler{}, p, model, 64)) >=
                  separate + combined);
            CHECK(arrivals_kept(simulate(papcoll::clairvoyant_scheduler<>{.round = ticks{90}}, p, model,
                                         64)) >= separate);
            CHECK(arrivals_kept(simulate(random_reduction{seed}, p, model, 64)) >= together);
            CHECK(arrivals_kept(simulate(papcoll::reversed(random_reduction{seed}), p, model, 64)) >=
                  together);
        }
}

TEST_CASE("equal steps of one rank go by the peer") {
    std::vector<transfer> const from_root{{0, 0, 2, 0}, {0, 0, 1, 0}};
    cost_model const model{.latency = ticks{10}};
    CHECK(simulate(from_root, problem{.ranks = 3}, model, 1, schedule_kind::dissemination) ==
          times{ticks{20}, ticks{10}, ticks{20}});
    std::vector<transfer> const to_root{{0, 2, 0, 0}, {0, 1, 0, 0}};
    CHECK(simulate(to_root, problem{.ranks = 3}, model, 1) == times{ticks{20}, ticks{10}, ticks{20}});
}

TEST_CASE("a schedule that cannot proceed is named") {
    problem const p{.ranks = 3, .blocks = 2};
    auto const error = [&](std::vector<transfer> const& schedule, schedule_kind kind) -> std::string {
        try {
            (void)simulate(schedule, p, models[0], 8, kind);
        } catch (std::invalid_argument const& e) {
            return e.what();
        }
        return "";
    };
    auto const reduction = schedule_kind::reduction;
    auto const dissemination = schedule_kind::dissemination;
    CHECK(
        error({{0, 1, 0, 1}, {4, 1, 2, 1}}, reduction) ==
        "papcoll: the schedule cannot proceed: the transfer of block 1 from rank 1 to rank 2 in step 4 waits "
        "for ever: its sender does not hold the block then");
    CHECK(error({{3, 1, 2, 0}, {4, 0, 1, 0}}, dissemination).find("from rank 1 to rank 2 in step 3 waits") !=
          std::string::npos);
    CHECK(error({{3, 0, 1, 0}, {3, 1, 2, 0}}, dissemination).find("from rank 1 to rank 2 in step 3 waits") !=
          std::string::npos); // in a step a rank sends first
    CHECK(error({{3, 0, 1, 0}, {3, 1, 2, 0}}, reduction).find("in step 3 is in the step") !=
          std::string::npos);
    CHECK(error({{0, 1, 1, 0}}, reduction).find("to itself") != std::string::npos);
    CHECK(error({{0, 1, 3, 0}}, reduction).find("among the 3") != std::string::npos);
    CHECK(error({{0, -1, 0, 0}}, reduction).find("among the 3") != std::string::npos);
    CHECK(error({{0, 1, 0, 2}}, reduction).find("among the 2") != std::string::npos);
    CHECK(error({{0, 1, 0, 0}, {0, 1, 0, 0}}, reduction).find("twice") != std::string::npos);
    // What only the result is wrong of can be simulated.
    CHECK(error({{0, 1, 2, 0}}, reduction).empty());
    CHECK(error({{0, 0, 1, 0}, {1, 0, 1, 0}}, dissemination).empty());
}

TEST_CASE("malformed models and problems") {
    auto const run = [](cost_model const& model) { (void)simulate({}, problem{}, model, 1); };
    CHECK_THROWS_WITH_AS(run({.latency = ticks{-1}}), doctest::Contains("latency"), std::invalid_argument);
    CHECK_THROWS_WITH_AS(run({.per_byte = -0.5}), doctest::Contains(".per_byte"), std::invalid_argument);
    CHECK_THROWS_WITH_AS(run({.compute = ticks{-1}}), doctest::Contains(".compute "), std::invalid_argument);
    CHECK_THROWS_WITH_AS(run({.compute_per_byte = std::numeric_limits<double>::quiet_NaN()}),
                         doctest::Contains("compute_per_byte"), std::invalid_argument);
    CHECK_THROWS_WITH_AS((void)simulate({}, problem{.ranks = 0}, {}, 1), doctest::Contains("ranks"),
                         std::invalid_argument);
}
