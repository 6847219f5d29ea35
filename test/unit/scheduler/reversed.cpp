// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/analysis/verify.hpp>
#include <papcoll/arrival/patterns.hpp>
#include <papcoll/scheduler/clairvoyant.hpp>
#include <papcoll/scheduler/reversed.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <vector>

namespace {

using papcoll::problem;
using papcoll::rank_schedule;
using papcoll::schedule_kind;
using papcoll::transfer;

// Hands out a list, as a whole or by rank.
template <schedule_kind Kind>
struct listed {
    std::vector<transfer> all;

    static constexpr auto kind = Kind;
    [[nodiscard]] auto transfers(problem const&) const -> std::vector<transfer> { return all; }
    [[nodiscard]] auto for_rank(problem const&, int rank) const -> rank_schedule {
        rank_schedule share;
        for (auto const& t : all) {
            if (t.from == rank) share.sends.push_back({t.step, t.to, t.block});
            if (t.to == rank) share.receives.push_back({t.step, t.from, t.block});
        }
        return share;
    }
};
using reduction = listed<schedule_kind::reduction>;
using dissemination = listed<schedule_kind::dissemination>;

static_assert(papcoll::scheduler<papcoll::reversed_scheduler<reduction>>);
static_assert(papcoll::reversed_scheduler<reduction>::kind == schedule_kind::dissemination);
static_assert(papcoll::reversed_scheduler<dissemination>::kind == schedule_kind::reduction);

// One transfer per step between random ranks, until the owner has each block: blocks wander, come back to
// ranks that gave them away, and leave their owner.
auto wandering(problem const& p, std::mt19937& random) -> std::vector<transfer> {
    std::vector<transfer> all;
    papcoll::step_type step = 3;
    auto const any_rank = [&] { return std::uniform_int_distribution(0, p.ranks - 1)(random); };
    for (int block = 0; block < p.blocks; ++block) {
        std::vector<bool> holds(static_cast<std::size_t>(p.ranks), true);
        auto const move = [&](int from, int to) {
            if (from == to || !holds[static_cast<std::size_t>(from)]) return;
            holds[static_cast<std::size_t>(from)] = false;
            holds[static_cast<std::size_t>(to)] = true;
            all.push_back({step, from, to, block});
            step += 1 + (any_rank() % 2);
        };
        for (int i = 0; i < 3 * p.ranks; ++i) move(any_rank(), any_rank());
        for (int rank = 0; rank < p.ranks; ++rank) move(rank, p.owner(block));
    }
    return all;
}

// What the shares of all ranks say, by their sends and by their receives, is the whole schedule.
template <class Scheduler>
void check_shares(Scheduler const& s, problem const& p) {
    auto const all = papcoll::transfers(s, p);
    std::vector<transfer> sent;
    std::vector<transfer> received;
    for (int rank = 0; rank < p.ranks; ++rank) {
        auto const share = s.for_rank(p, rank);
        CHECK(std::is_sorted(share.sends.begin(), share.sends.end()));
        CHECK(std::is_sorted(share.receives.begin(), share.receives.end()));
        for (auto const& t : share.sends) sent.push_back({t.step, rank, t.peer, t.block});
        for (auto const& t : share.receives) received.push_back({t.step, t.peer, rank, t.block});
    }
    std::sort(sent.begin(), sent.end());
    std::sort(received.begin(), received.end());
    CHECK(sent == all);
    CHECK(received == all);
}

} // namespace

TEST_CASE("steps and directions turn round") {
    reduction const tree{{{2, 3, 2, 0}, {2, 1, 0, 0}, {7, 2, 0, 0}}};
    problem const p{.ranks = 4};
    REQUIRE_FALSE(papcoll::verify_reduction(tree.all, p));
    std::vector<transfer> const expected{{0, 0, 2, 0}, {5, 0, 1, 0}, {5, 2, 3, 0}};
    CHECK(papcoll::transfers(papcoll::reversed(tree), p) == expected);
    check_shares(papcoll::reversed(tree), p);
}

TEST_CASE("a block that came back is delivered once, and first things first") {
    reduction const back{{{0, 1, 2, 0}, {1, 2, 1, 0}, {2, 1, 0, 0}}};
    problem const p{.ranks = 3};
    REQUIRE_FALSE(papcoll::verify_reduction(back.all, p));
    std::vector<transfer> const expected{{0, 0, 1, 0}, {1, 1, 2, 0}};
    CHECK(papcoll::transfers(papcoll::reversed(back), p) == expected);
}

TEST_CASE("an owner that gave its block away gets none") {
    reduction const through{{{0, 0, 1, 0}, {1, 1, 0, 0}}};
    std::vector<transfer> const expected{{0, 0, 1, 0}};
    CHECK(papcoll::transfers(papcoll::reversed(through), {.ranks = 2}) == expected);
}

TEST_CASE("a dissemination that delivers a block twice becomes a right reduction") {
    dissemination const twice{{{0, 0, 1, 0}, {1, 1, 2, 0}, {2, 2, 1, 0}, {3, 1, 0, 0}}};
    problem const p{.ranks = 3};
    auto const all = papcoll::transfers(papcoll::reversed(twice), p);
    CHECK_FALSE(papcoll::verify_reduction(all, p));
    std::vector<transfer> const expected{{2, 2, 1, 0}, {3, 1, 0, 0}};
    CHECK(all == expected);
}

TEST_CASE("reversed random reductions disseminate, and reversed again they reduce") {
    std::mt19937 random(20);
    for (int const ranks : {1, 2, 3, 5, 7, 8, 13})
        for (int instance = 0; instance < 40; ++instance) {
            std::vector<int> owners(5);
            for (auto& owner : owners) owner = std::uniform_int_distribution(0, ranks - 1)(random);
            problem p{.ranks = ranks, .root = owners[0], .blocks = 5};
            if (instance % 2 == 1) p.owners = owners;
            reduction const forward{wandering(p, random)};
            REQUIRE_FALSE(papcoll::verify_reduction(forward.all, p));

            auto const backward = papcoll::reversed(forward);
            auto const all = papcoll::transfers(backward, p);
            CHECK(all.size() == static_cast<std::size_t>((ranks - 1) * p.blocks));
            CHECK(papcoll::verify_dissemination(all, p).value_or("right") == "right");
            CHECK((all.empty() || all.front().step >= 0));
            check_shares(backward, p);

            auto const again = papcoll::transfers(papcoll::reversed(backward), p);
            CHECK(papcoll::verify_reduction(again, p).value_or("right") == "right");
            CHECK(again.size() == all.size());
        }
}

TEST_CASE("transfers of ranks and blocks that are not there throw") {
    problem const p{.ranks = 3, .blocks = 2};
    for (transfer const& t : {transfer{1, 1, 3, 0}, transfer{1, -1, 0, 0}, transfer{1, 1, 0, 1'000'000},
                              transfer{1, 1, 0, -1}, transfer{1, 1, 1, 0}})
        CHECK_THROWS_AS((void)papcoll::reversed(reduction{{t}}).transfers(p), std::invalid_argument);
}

TEST_CASE("a malformed problem throws and names the member") {
    CHECK_THROWS_WITH_AS((void)papcoll::transfers(papcoll::reversed(reduction{}), {.ranks = 0}),
                         doctest::Contains("problem.ranks"), std::invalid_argument);
}

TEST_CASE("Clairvoyant reversed disseminates under every pattern, although its blocks come back") {
    papcoll::clairvoyant_scheduler<> const forward{.round = papcoll::ticks{100}};
    auto const backward = papcoll::reversed(forward);
    static_assert(backward.kind == schedule_kind::dissemination);
    std::size_t left_out = 0;
    for (auto const shape : papcoll::all_arrival_shapes())
        for (int const ranks : {1, 2, 3, 5, 7, 8, 13})
            for (int const root : {0, ranks / 2, ranks - 1}) {
                auto const arrivals = papcoll::arrival_pattern(shape, ranks, papcoll::ticks{1500}, 5);
                problem const p{.ranks = ranks, .root = root, .blocks = 9, .arrivals = arrivals};
                auto const reduced = papcoll::transfers(forward, p);
                REQUIRE(papcoll::verify_reduction(reduced, p).value_or("right") == "right");
                auto const all = papcoll::transfers(backward, p);
                CHECK(papcoll::verify_dissemination(all, p).value_or("right") == "right");
                CHECK(all.size() == static_cast<std::size_t>((ranks - 1) * p.blocks));
                left_out += reduced.size() - all.size();
                check_shares(backward, p);
            }
    CHECK(left_out > 0); // or blocks never came back and the test would show nothing
}
