// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/scheduler/circulant.hpp>
#include <papcoll/scheduler/reversed.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "support/circulant_owners.hpp"

namespace {

using circulant_owners::for_problems;
using circulant_owners::violation;
using papcoll::circulant_reduction_scheduler;
using papcoll::circulant_scheduler;
using papcoll::problem;
using papcoll::rank_schedule;
using papcoll::step_type;

auto most(problem const& p) -> int {
    auto const counts = circulant_owners::counts(p);
    return *std::max_element(counts.begin(), counts.end());
}

// Every owner's broadcast on its own, all ending together.
auto put_together(problem const& p, int rank) -> rank_schedule {
    rank_schedule all;
    for (int owner = 0; owner < p.ranks; ++owner) {
        std::vector<int> blocks;
        for (int b = 0; b < p.blocks; ++b)
            if (p.owner(b) == owner) blocks.push_back(b);
        if (blocks.empty()) continue;
        problem const alone{.ranks = p.ranks, .root = owner, .blocks = static_cast<int>(blocks.size())};
        step_type const delay = most(p) - alone.blocks;
        auto const share = circulant_scheduler{}.for_rank(alone, rank);
        auto const add = [&](auto& to, auto const& from) {
            for (auto const& t : from)
                to.push_back({t.step + delay, t.peer, blocks[static_cast<std::size_t>(t.block)]});
        };
        add(all.sends, share.sends);
        add(all.receives, share.receives);
    }
    std::sort(all.sends.begin(), all.sends.end());
    std::sort(all.receives.begin(), all.receives.end());
    return all;
}

// From step 0 on.
template <class S>
void check_rounds(S const& s, problem const& p) {
    auto const all = transfers(s, p);
    REQUIRE(all.empty() == (p.ranks == 1));
    if (all.empty()) return;
    CHECK(all.front().step == 0);
    CHECK(all.back().step == most(p) - 2 + papcoll::circulant_skips(p.ranks).rounds());
}

// Rank 0 sends nothing, but others wait for it.
struct silent {
    static constexpr auto kind = papcoll::schedule_kind::dissemination;
    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> rank_schedule {
        auto share = circulant_scheduler{}.for_rank(p, rank);
        if (rank == 0) share.sends.clear();
        return share;
    }
};

struct backwards {
    static constexpr auto kind = papcoll::schedule_kind::dissemination;
    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> rank_schedule {
        auto share = circulant_scheduler{}.for_rank(p, rank);
        std::reverse(share.receives.begin(), share.receives.end());
        return share;
    }
};

} // namespace

TEST_CASE("broadcasts from all owners at once reach every rank, one message per step") {
    for_problems([](problem const& p) {
        REQUIRE(violation(circulant_scheduler{}, p).value_or("right") == "right");
        check_rounds(circulant_scheduler{}, p);
    });
}

TEST_CASE("the n-block reduce-scatter combines every contribution once at the block's owner") {
    for_problems([](problem const& p) {
        REQUIRE(violation(circulant_reduction_scheduler{}, p).value_or("right") == "right");
        check_rounds(circulant_reduction_scheduler{}, p);
    });
}

TEST_CASE("together the owners' broadcasts are what each is alone") {
    for_problems([](problem const& p) {
        for (int const rank : {0, p.ranks / 3, p.ranks / 2, p.ranks - 1})
            REQUIRE(circulant_scheduler{}.for_rank(p, rank) == put_together(p, rank));
    });
}

TEST_CASE("the n-block reduce-scatter is the broadcasts reversed") {
    auto const general = papcoll::reversed(circulant_owners::plain<circulant_scheduler>{});
    for (int const p : {1, 2, 3, 9, 20, 33})
        for (auto const& blocks : circulant_owners::distributions(p)) {
            CAPTURE(p);
            CAPTURE(blocks.name);
            auto const given = blocks.of(p);
            auto const all = transfers(general, given);
            CHECK(transfers(circulant_reduction_scheduler{}, given) == all);
            for (int rank : {0, p / 2, p - 1})
                CHECK(circulant_reduction_scheduler{}.for_rank(given, rank) == general.for_rank(given, rank));
        }
}

TEST_CASE("one block of every rank takes as many rounds as one block of one rank") {
    for (int p = 2; p <= 64; ++p) {
        auto const one_each = circulant_owners::distributions(p).front();
        CHECK(transfers(circulant_scheduler{}, one_each.of(p)).back().step + 1 ==
              papcoll::circulant_skips(p).rounds());
    }
}

TEST_CASE("a violation of shares is found") {
    auto const given = circulant_owners::distributions(5)[1];
    CHECK(violation(silent{}, given.of(5)).value_or("right") == "sends and receives differ");
    CHECK(violation(backwards{}, given.of(5)).value_or("right") == "a list is not in order");
}
