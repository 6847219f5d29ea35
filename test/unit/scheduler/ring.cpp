// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/scheduler/gather_broadcast.hpp>
#include <papcoll/scheduler/neighbor_exchange.hpp>
#include <papcoll/scheduler/ring.hpp>

#include <doctest/doctest.h>

#include <random>
#include <stdexcept>
#include <vector>

#include "dissemination_cases.hpp"

namespace {

using papcoll::gather_broadcast_scheduler;
using papcoll::neighbor_exchange_scheduler;
using papcoll::problem;
using papcoll::ring_scheduler;

static_assert(papcoll::scheduler<ring_scheduler>);
static_assert(papcoll::scheduler<neighbor_exchange_scheduler>);
static_assert(papcoll::scheduler<gather_broadcast_scheduler>);
static_assert(ring_scheduler::kind == papcoll::schedule_kind::dissemination);

// Each rank's two neighbours on the ring: one direction only in the ring, both in neighbour exchange.
auto only_neighbours(std::vector<papcoll::transfer> const& all, int ranks) -> bool {
    return std::all_of(all.begin(), all.end(), [=](auto const& t) {
        return (t.from + 1) % ranks == t.to || (t.to + 1) % ranks == t.from;
    });
}

} // namespace

TEST_CASE("ring and neighbour exchange spread every rank's blocks, in as many steps as they say") {
    for (int p = 1; p <= 40; ++p)
        for (int const pieces : {1, 3}) {
            CAPTURE(p);
            CAPTURE(pieces);
            auto const owned = all_gather_problem(p, pieces);
            auto const ring = verified(ring_scheduler{}, owned.view());
            REQUIRE(steps_of(ring) == p - 1);
            REQUIRE(only_neighbours(ring, p));
            auto const exchange = verified(neighbor_exchange_scheduler{}, owned.view());
            REQUIRE(steps_of(exchange) == (p % 2 == 0 ? p / 2 : p - 1));
            REQUIRE(only_neighbours(exchange, p));
            if (p % 2 != 0) REQUIRE((exchange == ring));
        }
}

TEST_CASE("the ring sends in each direction once, neighbour exchange to both sides in turn") {
    auto const owned = all_gather_problem(6, 1);
    CHECK(ring_scheduler{}.for_rank(owned.view(), 2) ==
          papcoll::rank_schedule{.sends = {{0, 3, 2}, {1, 3, 1}, {2, 3, 0}, {3, 3, 5}, {4, 3, 4}},
                                 .receives = {{0, 1, 1}, {1, 1, 0}, {2, 1, 5}, {3, 1, 4}, {4, 1, 3}}});
    CHECK(neighbor_exchange_scheduler{}.for_rank(owned.view(), 2) ==
          papcoll::rank_schedule{.sends = {{0, 3, 2}, {1, 1, 2}, {1, 1, 3}, {2, 3, 0}, {2, 3, 1}},
                                 .receives = {{0, 3, 3}, {1, 1, 0}, {1, 1, 1}, {2, 3, 4}, {2, 3, 5}}});
}

TEST_CASE("owners may have several blocks, scattered, or none") {
    std::mt19937 random(5);
    for (int p = 1; p <= 24; ++p)
        for (int const blocks : {1, 2, p, 3 * p}) {
            CAPTURE(p);
            CAPTURE(blocks);
            owned_problem const owned{.ranks = p,
                                      .owners = scattered_owners(p, blocks, random),
                                      .arrivals = random_arrivals(p, 9, random),
                                      .root = p / 2};
            verified(ring_scheduler{}, owned.view());
            verified(neighbor_exchange_scheduler{}, owned.view());
            verified(gather_broadcast_scheduler{}, owned.view());
            // The root owns all: a broadcast.
            problem const from_root{.ranks = p, .root = p / 3, .blocks = blocks};
            verified(ring_scheduler{}, from_root);
            verified(neighbor_exchange_scheduler{}, from_root);
            verified(gather_broadcast_scheduler{}, from_root);
        }
}

TEST_CASE("gather and broadcast: the root takes in rank after rank as they arrive") {
    using papcoll::ticks;
    for (int p = 1; p <= 24; ++p) {
        auto const owned = all_gather_problem(p, 2);
        verified(gather_broadcast_scheduler{}, owned.view());
    }
    auto owned = all_gather_problem(5, 1, {ticks{3}, ticks{9}, ticks{0}, ticks{7}, ticks{7}});
    owned.root = 2;
    auto const all = verified(gather_broadcast_scheduler{}, owned.view());
    std::vector<int> senders;
    for (auto const& t : all)
        if (t.step < 4) senders.push_back(t.from);
    CHECK(senders == std::vector{0, 3, 4, 1});
}

TEST_CASE("malformed problems and ranks are refused") {
    problem const p{.ranks = 4, .blocks = 4};
    for (int const rank : {-1, 4}) {
        CHECK_THROWS_AS((void)ring_scheduler{}.for_rank(p, rank), std::invalid_argument);
        CHECK_THROWS_AS((void)neighbor_exchange_scheduler{}.for_rank(p, rank), std::invalid_argument);
        CHECK_THROWS_AS((void)gather_broadcast_scheduler{}.for_rank(p, rank), std::invalid_argument);
    }
    for (int const ranks : {-2, 0}) {
        problem const none{.ranks = ranks};
        CHECK_THROWS_AS((void)ring_scheduler{}.for_rank(none, 0), std::invalid_argument);
        CHECK_THROWS_AS((void)neighbor_exchange_scheduler{}.for_rank(none, 0), std::invalid_argument);
        CHECK_THROWS_AS((void)gather_broadcast_scheduler{}.for_rank(none, 0), std::invalid_argument);
    }
}
