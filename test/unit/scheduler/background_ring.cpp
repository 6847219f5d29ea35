// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/analysis/metrics.hpp>
#include <papcoll/scheduler/background_ring.hpp>
#include <papcoll/scheduler/ring.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <support/background_model.hpp>
#include <vector>

#include "dissemination_cases.hpp"

namespace {

using papcoll::background_ring_scheduler;
using papcoll::problem;
using papcoll::ring_scheduler;
using papcoll::step_type;
using papcoll::ticks;
using papcoll::transfer;

static_assert(papcoll::background_scheduler<background_ring_scheduler>);
static_assert(!papcoll::background_scheduler<ring_scheduler>);

// Paper 4, Listing 2, literally, every pre-step included; then the empty ones are taken out.
auto listing_2(problem const& p, ticks block_time) -> std::vector<transfer> {
    auto const at = [](auto& v, int i) -> auto& { return v[static_cast<std::size_t>(i)]; };
    std::vector<int> by_arrival(static_cast<std::size_t>(p.ranks));
    std::iota(by_arrival.begin(), by_arrival.end(), 0);
    std::stable_sort(by_arrival.begin(), by_arrival.end(),
                     [&](int a, int b) { return p.arrival(a) > p.arrival(b); });
    std::vector<std::int64_t> pre_steps(by_arrival.size());
    for (int r = 0; r < p.ranks; ++r)
        at(pre_steps, r) = (p.arrival(by_arrival.front()) - p.arrival(r)) / block_time;
    auto const most = *std::max_element(pre_steps.begin(), pre_steps.end());
    std::vector<int> sent(by_arrival.size());
    std::vector<transfer> all;
    std::int64_t s = 0;
    for (; s < most; ++s) {
        std::vector<bool> receives(by_arrival.size());
        for (int const r : by_arrival) {
            int const to = (2 * p.ranks + r - 1 - at(sent, r)) % p.ranks;
            if (at(pre_steps, r) < most - s || at(sent, r) >= p.ranks - 1) continue;
            if (receives[static_cast<std::size_t>(to)]) continue;
            receives[static_cast<std::size_t>(to)] = true;
            all.push_back({s, r, to, r});
            ++at(sent, r);
        }
    }
    for (int i = 0; i < p.ranks; ++i)
        for (int j = 0; j < p.ranks; ++j) {
            int const segment = (i - j + p.ranks) % p.ranks;
            if (at(sent, segment) + j < p.ranks - 1) all.push_back({s + j, i, (i + 1) % p.ranks, segment});
        }
    std::map<step_type, step_type> dense;
    for (auto const& t : all)
        if (t.step < most) dense[t.step] = 0;
    step_type used = 0;
    for (auto& [step, number] : dense) number = used++;
    for (auto& t : all) t.step = t.step < most ? dense[t.step] : t.step - most + used;
    std::sort(all.begin(), all.end());
    return all;
}

struct vector_file {
    owned_problem problem;
    ticks tau{0};
    std::vector<transfer> transfers;
};

auto read_vector(std::string const& path) -> vector_file {
    std::ifstream in(path);
    REQUIRE(in);
    vector_file file;
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string word;
        words >> word;
        std::int64_t value = 0;
        if (word == "ranks") {
            words >> value;
            file.problem = all_gather_problem(static_cast<int>(value), 1);
        } else if (word == "arrivals") {
            while (words >> value) file.problem.arrivals.emplace_back(value);
        } else if (word == "tau") {
            words >> value;
            file.tau = ticks{value};
        } else if (word != "#") {
            transfer t;
            words >> t.from >> t.to >> t.block;
            t.step = std::stoll(word);
            REQUIRE(words);
            file.transfers.push_back(t);
        }
    }
    REQUIRE(file.problem.arrivals.size() == 4);
    REQUIRE(file.transfers.size() == 12);
    return file;
}

} // namespace

TEST_CASE("figure 4: rank 0 is late by two block times") {
    auto const file = read_vector(PAPCOLL_TEST_DATA "/bdr/figure-4.txt");
    background_ring_scheduler const s{.block_time = file.tau};
    auto const p = file.problem.view();
    CHECK((verified(s, p) == file.transfers));
    CHECK(s.pre_steps(p) == 2);
    background_model const model{.per_block = file.tau};
    CHECK(model.exits(file.transfers, p) == std::vector{ticks{3}, ticks{4}, ticks{5}, ticks{5}});
    auto const ring = verified(ring_scheduler{}, p);
    CHECK(model.exits(ring, p) == std::vector{ticks{5}, ticks{5}, ticks{5}, ticks{5}});
}

TEST_CASE("the listing, step by step, on random arrivals") {
    std::mt19937 random(1);
    for (int p = 1; p <= 24; ++p)
        for (long const largest : {0L, 5L, 40L, 300L, 3000L})
            for (int repetition = 0; repetition < 3; ++repetition) {
                CAPTURE(p);
                CAPTURE(largest);
                CAPTURE(repetition);
                auto const owned = all_gather_problem(p, 1, random_arrivals(p, largest, random));
                background_ring_scheduler const s{.block_time = ticks{10}};
                auto all = verified(s, owned.view());
                REQUIRE((all == listing_2(owned.view(), s.block_time)));
                REQUIRE((all == [&] {
                    auto own = s.transfers(owned.view());
                    std::sort(own.begin(), own.end());
                    return own;
                }()));
            }
}

TEST_CASE("all ranks up to 40, scattered owners: a right dissemination, owners' blocks together") {
    std::mt19937 random(2);
    for (int p = 1; p <= 40; ++p)
        for (long const largest : {0L, 30L, 500L, 100'000L}) {
            CAPTURE(p);
            CAPTURE(largest);
            owned_problem const owned{.ranks = p,
                                      .owners = scattered_owners(p, p + p / 2, random),
                                      .arrivals = random_arrivals(p, largest, random)};
            background_ring_scheduler const s{.block_time = ticks{10}};
            auto const all = verified(s, owned.view());
            // Whole owners: how often a (step, from, to, owner) occurs is how many blocks the owner has.
            std::map<std::vector<long>, long> counts;
            for (auto const& t : all)
                ++counts[{t.step, t.from, t.to, owned.owners[static_cast<std::size_t>(t.block)]}];
            for (auto const& [key, count] : counts)
                REQUIRE(count == std::count(owned.owners.begin(), owned.owners.end(), key[3]));
        }
}

TEST_CASE("without arrivals, or with all within one block time, it is the ring") {
    for (int p = 1; p <= 20; ++p) {
        auto owned = all_gather_problem(p, 2);
        background_ring_scheduler const s{.block_time = ticks{10}};
        for (int rank = 0; rank < p; ++rank)
            REQUIRE(s.for_rank(owned.view(), rank) == ring_scheduler{}.for_rank(owned.view(), rank));
        for (int rank = 0; rank < p; ++rank) owned.arrivals.emplace_back(rank % 10 - 100);
        for (int rank = 0; rank < p; ++rank)
            REQUIRE(s.for_rank(owned.view(), rank) == ring_scheduler{}.for_rank(owned.view(), rank));
        CHECK(s.pre_steps(owned.view()) == 0);
    }
}

TEST_CASE("only own blocks of ranks that have arrived move in pre-steps") {
    std::mt19937 random(3);
    for (int p = 2; p <= 30; ++p) {
        CAPTURE(p);
        auto const owned = all_gather_problem(p, 1, random_arrivals(p, 20L * p, random));
        background_ring_scheduler const s{.block_time = ticks{10}};
        auto const all = verified(s, owned.view());
        auto const pre_steps = s.pre_steps(owned.view());
        int const last = static_cast<int>(std::max_element(owned.arrivals.begin(), owned.arrivals.end()) -
                                          owned.arrivals.begin());
        for (auto const& t : all)
            if (t.step < pre_steps) {
                REQUIRE(t.from == t.block);
                REQUIRE(t.from != last);
            }
        REQUIRE(first_own_step(s.for_rank(owned.view(), last), owned.view(), last) == pre_steps);
        // In the model the pre-steps fit before the last arrival: everything ends as early as after a ring.
        background_model const model{.per_block = s.block_time};
        auto const exits = model.exits(all, owned.view());
        REQUIRE(papcoll::last_delay(owned.arrivals, exits) <= s.block_time * (p - 1));
        auto const ring = model.exits(verified(ring_scheduler{}, owned.view()), owned.view());
        REQUIRE(papcoll::mean_elapsed(owned.arrivals, exits) <= papcoll::mean_elapsed(owned.arrivals, ring));
    }
}

TEST_CASE("idle pre-steps cost nothing") {
    auto const year = std::chrono::hours{24 * 365};
    auto owned = all_gather_problem(9, 1);
    for (int rank = 0; rank < 9; ++rank) owned.arrivals.emplace_back(year * (rank % 4 - 2));
    background_ring_scheduler const s{.block_time = ticks{1}};
    CHECK(steps_of(verified(s, owned.view())) < 9 * 9);
    // From the smallest to almost the largest difference that is allowed.
    owned.arrivals.assign(9, ticks{0});
    owned.arrivals[4] = ticks{std::int64_t{1} << 62};
    verified(s, owned.view());
    CHECK(s.pre_steps(owned.view()) == 8);
    owned.arrivals[0] = ticks{-1};
    CHECK_THROWS_AS((void)s.for_rank(owned.view(), 0), std::invalid_argument);
    owned.arrivals[0] = ticks{std::numeric_limits<std::int64_t>::min()};
    CHECK_THROWS_AS((void)s.pre_steps(owned.view()), std::invalid_argument);
}

TEST_CASE("malformed problems are refused") {
    problem const p{.ranks = 3, .blocks = 3};
    for (auto const time : {ticks{0}, ticks{-5}}) {
        background_ring_scheduler const s{.block_time = time};
        CHECK_THROWS_AS((void)s.for_rank(p, 0), std::invalid_argument);
        CHECK_THROWS_AS((void)s.transfers(p), std::invalid_argument);
        CHECK_THROWS_AS((void)s.pre_steps(p), std::invalid_argument);
    }
    CHECK_THROWS_AS((void)background_ring_scheduler{}.for_rank(p, 3), std::invalid_argument);
    CHECK_THROWS_AS((void)background_ring_scheduler{}.for_rank(problem{.ranks = 0}, 0),
                    std::invalid_argument);
}
