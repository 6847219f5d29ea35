// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/scheduler/circulant_all_gather.hpp>
#include <papcoll/scheduler/reversed.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <concepts>
#include <limits>
#include <stdexcept>
#include <vector>

#include "../../support/sanitized.hpp"
#include "support/circulant_owners.hpp"

namespace {

using circulant_owners::for_problems;
using circulant_owners::violation;
using papcoll::circulant_all_gather_scheduler;
using papcoll::circulant_reduce_scatter_scheduler;
using papcoll::circulant_skips;
using papcoll::problem;
using papcoll::rank_schedule;
using papcoll::schedule_kind;

static_assert(papcoll::scheduler<circulant_all_gather_scheduler>);
static_assert(papcoll::scheduler<circulant_reduce_scatter_scheduler>);
static_assert(circulant_all_gather_scheduler::kind == schedule_kind::dissemination);
static_assert(circulant_reduce_scatter_scheduler::kind == schedule_kind::reduction);
static_assert(
    std::same_as<decltype(reversed(circulant_all_gather_scheduler{})), circulant_reduce_scatter_scheduler>);

// The definition, with units as ranges of ranks.
auto by_ranges(problem const& p, int rank) -> rank_schedule {
    circulant_skips const skips(p.ranks);
    rank_schedule share;
    auto const add = [&](auto& list, int k, int peer, auto first, auto last) {
        for (int b = 0; b < p.blocks; ++b)
            for (auto d = first; d < last; ++d)
                if (p.owner(b) == (rank + d) % p.ranks) list.push_back({k, peer, b});
    };
    for (int k = 0; k < skips.rounds(); ++k) {
        add(share.sends, k, skips.source(rank, k), 0, skips[k + 1] - skips[k]);
        add(share.receives, k, skips.target(rank, k), skips[k], skips[k + 1]);
    }
    return share;
}

// Every round of the graph is used, from step 0 on.
template <class S>
void check_rounds(S const& s, problem const& p) {
    std::vector<papcoll::step_type> steps;
    for (auto const& t : transfers(s, p))
        if (steps.empty() || steps.back() != t.step) steps.push_back(t.step);
    int const q = circulant_skips(p.ranks).rounds();
    REQUIRE(steps.size() == static_cast<std::size_t>(q));
    for (int k = 0; k < q; ++k) CHECK(steps[static_cast<std::size_t>(k)] == k);
}

} // namespace

TEST_CASE("the all-gather brings every block to every rank, in the fewest rounds") {
    for_problems([](problem const& p) {
        REQUIRE(violation(circulant_all_gather_scheduler{}, p).value_or("right") == "right");
        check_rounds(circulant_all_gather_scheduler{}, p);
    });
}

TEST_CASE("the reduce-scatter combines every contribution once at the block's owner, in the fewest rounds") {
    for_problems([](problem const& p) {
        REQUIRE(violation(circulant_reduce_scatter_scheduler{}, p).value_or("right") == "right");
        check_rounds(circulant_reduce_scatter_scheduler{}, p);
    });
}

TEST_CASE("the all-gather moves the ranges of units that the definition names") {
    for_problems([](problem const& p) {
        if (p.ranks > 64) return;
        for (int const rank : {0, p.ranks / 3, p.ranks / 2, p.ranks - 1})
            REQUIRE(circulant_all_gather_scheduler{}.for_rank(p, rank) == by_ranges(p, rank));
    });
}

TEST_CASE("every rank sends and receives p − 1 units") {
    for (int p = 1; p <= test_support::at_most(300, 70); ++p) {
        auto const given = circulant_owners::distributions(p).front();
        auto const others = static_cast<std::size_t>(p - 1);
        for (int const rank : {0, p / 3, p - 1}) {
            auto const gather = circulant_all_gather_scheduler{}.for_rank(given.of(p), rank);
            CHECK(gather.sends.size() == others);
            CHECK(gather.receives.size() == others);
            auto const scatter = circulant_reduce_scatter_scheduler{}.for_rank(given.of(p), rank);
            CHECK(scatter.sends.size() == others);
            CHECK(scatter.receives.size() == others);
        }
    }
}

TEST_CASE("the reduce-scatter is the all-gather reversed") {
    auto const general = papcoll::reversed(circulant_owners::plain<circulant_all_gather_scheduler>{});
    for (int const p : {1, 2, 3, 9, 20, 33})
        for (auto const& blocks : circulant_owners::distributions(p)) {
            CAPTURE(p);
            CAPTURE(blocks.name);
            auto const given = blocks.of(p);
            CHECK(transfers(circulant_reduce_scatter_scheduler{}, given) == transfers(general, given));
            for (int rank : {0, p / 2, p - 1})
                CHECK(circulant_reduce_scatter_scheduler{}.for_rank(given, rank) ==
                      general.for_rank(given, rank));
        }
}

TEST_CASE("without owners the root's blocks go to all ranks") {
    for (int const p : {1, 2, 3, 21})
        for (int const root : {0, p / 2, p - 1}) {
            problem const given{.ranks = p, .root = root, .blocks = 4};
            CHECK(violation(circulant_all_gather_scheduler{}, given).value_or("right") == "right");
            CHECK(violation(circulant_reduce_scatter_scheduler{}, given).value_or("right") == "right");
        }
}

TEST_CASE("one rank of the largest number of ranks has the share its peers expect") {
    problem const p{.ranks = std::numeric_limits<int>::max(), .root = 2000000000, .blocks = 3};
    CHECK(circulant_all_gather_scheduler{}.for_rank(p, p.root).sends.size() == 3U * 31);
    for (int const rank : {0, 77, 1234567890, p.ranks - 1}) {
        auto const share = circulant_all_gather_scheduler{}.for_rank(p, rank);
        REQUIRE(share.receives.size() == 3);
        for (auto const& t : share.receives) {
            auto const sends = circulant_all_gather_scheduler{}.for_rank(p, t.peer).sends;
            papcoll::rank_transfer const match{t.step, rank, t.block};
            CHECK(std::count(sends.begin(), sends.end(), match) == 1);
        }
    }
}

TEST_CASE("wrong arguments are named") {
    using invalid = std::invalid_argument;
    problem const p{.ranks = 5, .root = 2, .blocks = 2};
    auto const ask = [](auto const& s, problem const& given, int rank) {
        static_cast<void>(s.for_rank(given, rank));
    };
    circulant_all_gather_scheduler const gather;
    circulant_reduce_scatter_scheduler const scatter{};
    CHECK_THROWS_WITH_AS(ask(gather, p, 5), doctest::Contains("rank must be a rank of the problem"), invalid);
    CHECK_THROWS_AS(ask(gather, p, -1), invalid);
    CHECK_THROWS_AS(ask(scatter, p, 5), invalid);
    CHECK_THROWS_AS(ask(gather, {.ranks = 0}, 0), invalid);
    CHECK_THROWS_AS(ask(scatter, {.ranks = 5, .blocks = 0}, 0), invalid);
}
