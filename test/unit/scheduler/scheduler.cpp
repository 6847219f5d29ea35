// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/scheduler/scheduler.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>
#include <vector>

namespace {

using papcoll::problem;
using papcoll::rank_schedule;
using papcoll::schedule_kind;
using papcoll::transfer;

// The archetype: exactly what the concept asks for.
struct to_the_root {
    static constexpr auto kind = schedule_kind::reduction;
    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> rank_schedule {
        rank_schedule share;
        for (int other = 0; other < p.ranks; ++other) {
            if (other == p.root) continue;
            if (rank == other) share.sends.push_back({other, p.root, 0});
            if (rank == p.root) share.receives.push_back({other, other, 0});
        }
        return share;
    }
};

// The same schedule handed out whole, in an order of its own.
struct whole : to_the_root {
    [[nodiscard]] static auto transfers(problem const&) -> std::vector<transfer> {
        return {{1, 1, 0, 0}, {2, 2, 0, 0}};
    }
};

// One share says something else than the other.
struct deaf : to_the_root {
    int block_of_root = 0;
    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> rank_schedule {
        auto share = to_the_root::for_rank(p, rank);
        for (auto& t : share.receives) t.block = block_of_root;
        if (block_of_root < 0) share.receives.clear();
        return share;
    }
};

struct without_kind {
    [[nodiscard]] auto for_rank(problem const&, int) const -> rank_schedule { return {}; }
};
struct with_kind_of_another_type : without_kind {
    static constexpr int kind = 0;
};
struct without_for_rank {
    static constexpr auto kind = schedule_kind::reduction;
};
struct not_const {
    static constexpr auto kind = schedule_kind::reduction;
    auto for_rank(problem const&, int) -> rank_schedule { return {}; }
};
struct wrong_result {
    static constexpr auto kind = schedule_kind::reduction;
    [[nodiscard]] auto for_rank(problem const&, int) const -> std::vector<transfer> { return {}; }
};
struct move_only : to_the_root {
    std::unique_ptr<int> state;
};

static_assert(papcoll::scheduler<to_the_root>);
static_assert(papcoll::scheduler<whole>);
static_assert(!papcoll::scheduler<without_kind>);
static_assert(!papcoll::scheduler<with_kind_of_another_type>);
static_assert(!papcoll::scheduler<without_for_rank>);
static_assert(!papcoll::scheduler<not_const>);
static_assert(!papcoll::scheduler<wrong_result>);
static_assert(!papcoll::scheduler<move_only>);
static_assert(!papcoll::scheduler<int>);

} // namespace

TEST_CASE("transfers puts the shares of all ranks together in step order") {
    problem const p{.ranks = 4, .root = 1};
    std::vector<transfer> const expected{{0, 0, 1, 0}, {2, 2, 1, 0}, {3, 3, 1, 0}};
    CHECK(papcoll::transfers(to_the_root{}, p) == expected);
}

TEST_CASE("transfers prefers the scheduler's own") {
    std::vector<transfer> const expected{{1, 1, 0, 0}, {2, 2, 0, 0}};
    CHECK(papcoll::transfers(whole{}, {.ranks = 7}) == expected);
}

TEST_CASE("what one rank sends and the other does not receive is no transfer") {
    problem const p{.ranks = 3, .root = 1, .blocks = 2};
    CHECK_NOTHROW((void)papcoll::transfers(deaf{}, p));
    CHECK_THROWS_WITH_AS(
        (void)papcoll::transfers(deaf{{}, -1}, p),
        "papcoll: the transfer of block 0 from rank 0 to rank 1 in step 0 is in the share of its "
        "sender, but not in that of its receiver",
        std::invalid_argument);
    deaf listens_too_much{};
    listens_too_much.block_of_root = 1;
    CHECK_THROWS_AS((void)papcoll::transfers(listens_too_much, p), std::invalid_argument);
}
