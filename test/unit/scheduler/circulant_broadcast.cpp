// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/analysis/verify.hpp>
#include <papcoll/scheduler/circulant.hpp>
#include <papcoll/scheduler/reversed.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <limits>
#include <set>
#include <stdexcept>
#include <vector>

namespace {

using papcoll::circulant_reduction_scheduler;
using papcoll::circulant_scheduler;
using papcoll::problem;
using papcoll::schedule_kind;

static_assert(papcoll::scheduler<circulant_scheduler>);
static_assert(papcoll::scheduler<circulant_reduction_scheduler>);
static_assert(circulant_scheduler::kind == schedule_kind::dissemination);
static_assert(circulant_reduction_scheduler::kind == schedule_kind::reduction);
static_assert(std::same_as<decltype(reversed(circulant_scheduler{})), circulant_reduction_scheduler>);

// The broadcast under another name, so that reversed() treats it as it treats any scheduler.
struct plain {
    static constexpr auto kind = schedule_kind::dissemination;
    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> papcoll::rank_schedule {
        return circulant_scheduler{}.for_rank(p, rank);
    }
};

auto fewest_rounds(problem const& p) -> papcoll::step_type {
    return p.ranks == 1 ? 0 : p.blocks - 1 + papcoll::circulant_skips(p.ranks).rounds();
}
// Rounds from step 0 to the last that has a transfer.
auto length(std::vector<papcoll::transfer> const& sorted) -> papcoll::step_type {
    return sorted.empty() ? 0 : sorted.back().step + 1;
}

// Calls f(problem) for every p ≤ 70, n ≤ q + 3 or 17, all roots of small p and some of large.
template <class F>
void for_problems(F const& f) {
    for (int p = 1; p <= 70; ++p) {
        int const q = papcoll::circulant_skips(p).rounds();
        std::set<int> roots{0, 1 % p, p / 3, p / 2, p - 1};
        if (p <= 12)
            for (int root = 0; root < p; ++root) roots.insert(root);
        std::set<int> blocks{17};
        for (int n = 1; n <= q + 3; ++n) blocks.insert(n);
        for (int const n : blocks)
            for (int const root : roots) {
                CAPTURE(p);
                CAPTURE(n);
                CAPTURE(root);
                f(problem{.ranks = p, .root = root, .blocks = n});
            }
    }
}

} // namespace

TEST_CASE("the broadcast reaches every rank, in the fewest rounds") {
    for_problems([](problem const& p) {
        auto const all = transfers(circulant_scheduler{}, p);
        REQUIRE_FALSE(verify_dissemination(all, p).has_value());
        REQUIRE(length(all) == fewest_rounds(p));
    });
}

TEST_CASE("the reduction combines every contribution once, in the fewest rounds") {
    for_problems([](problem const& p) {
        auto const all = transfers(circulant_reduction_scheduler{}, p);
        REQUIRE_FALSE(verify_reduction(all, p).has_value());
        REQUIRE(length(all) == fewest_rounds(p));
    });
}

TEST_CASE("the sends of all ranks are the receives of all ranks, in step order") {
    problem const p{.ranks = 21, .root = 4, .blocks = 9};
    std::vector<papcoll::transfer> received;
    for (int rank = 0; rank < p.ranks; ++rank) {
        auto const share = circulant_scheduler{}.for_rank(p, rank);
        CHECK(std::is_sorted(share.sends.begin(), share.sends.end()));
        CHECK(std::is_sorted(share.receives.begin(), share.receives.end()));
        for (auto const& t : share.receives) received.push_back({t.step, t.peer, rank, t.block});
    }
    std::sort(received.begin(), received.end());
    CHECK(received == transfers(circulant_scheduler{}, p));
}

TEST_CASE("the reduction is the broadcast reversed") {
    auto const general = papcoll::reversed(plain{});
    for (int const p : {1, 2, 3, 9, 33})
        for (int const n : {1, 4, 11}) {
            problem const given{.ranks = p, .root = p / 2, .blocks = n};
            CHECK(transfers(circulant_reduction_scheduler{}, given) == transfers(general, given));
            for (int rank = 0; rank < p; ++rank)
                CHECK(circulant_reduction_scheduler{}.for_rank(given, rank) == general.for_rank(given, rank));
        }
}

TEST_CASE("one rank of the largest number of ranks has the share its peers expect") {
    problem const p{.ranks = std::numeric_limits<int>::max(), .root = 2000000000, .blocks = 40};
    for (int const rank : {0, 77, 1234567890, p.root, p.ranks - 1}) {
        CAPTURE(rank);
        auto const share = circulant_scheduler{}.for_rank(p, rank);
        CHECK(share.receives.size() == (rank == p.root ? 0U : 40U));
        for (auto const& t : share.receives) {
            auto const sends = circulant_scheduler{}.for_rank(p, t.peer).sends;
            papcoll::rank_transfer const match{t.step, rank, t.block};
            CHECK(std::count(sends.begin(), sends.end(), match) == 1);
        }
    }
}

TEST_CASE("wrong arguments are named") {
    using invalid = std::invalid_argument;
    problem const p{.ranks = 5, .root = 2, .blocks = 2};
    auto const ask = [](problem const& given, int rank) {
        static_cast<void>(circulant_scheduler{}.for_rank(given, rank));
    };
    auto const ask_reduction = [](problem const& given, int rank) {
        static_cast<void>(circulant_reduction_scheduler{}.for_rank(given, rank));
    };
    CHECK_THROWS_WITH_AS(ask(p, 5), doctest::Contains("rank must be a rank of the problem"), invalid);
    CHECK_THROWS_AS(ask(p, -1), invalid);
    CHECK_THROWS_AS(ask_reduction(p, 5), invalid);
    CHECK_THROWS_AS(ask({.ranks = 0}, 0), invalid);
    CHECK_THROWS_AS(ask_reduction({.ranks = 0}, 0), invalid);
    std::array const owners{2, 5};
    problem const owned{.ranks = 5, .root = 2, .blocks = 2, .owners = owners};
    CHECK_THROWS_WITH_AS(ask(owned, 0), doctest::Contains("problem.owners must be a rank"), invalid);
    CHECK_THROWS_AS(ask_reduction(owned, 0), invalid);
}

TEST_CASE("a single owner of all blocks is the root, whatever the root is") {
    for (int const root : {0, 2, 3}) {
        std::array const all_two{2, 2};
        problem const owned{.ranks = 5, .root = root, .blocks = 2, .owners = all_two};
        problem const rooted{.ranks = 5, .root = 2, .blocks = 2};
        for (int rank = 0; rank < 5; ++rank) {
            CHECK(circulant_scheduler{}.for_rank(owned, rank) ==
                  circulant_scheduler{}.for_rank(rooted, rank));
            CHECK(circulant_reduction_scheduler{}.for_rank(owned, rank) ==
                  circulant_reduction_scheduler{}.for_rank(rooted, rank));
        }
    }
}
