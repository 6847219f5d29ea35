// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/analysis/verify.hpp>
#include <papcoll/scheduler/clairvoyant.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "clairvoyant_cases.hpp"

namespace {

using clairvoyant_cases::instance;
using clairvoyant_cases::schedule;
using papcoll::ticks;

constexpr auto smallest = std::numeric_limits<std::int64_t>::min();
constexpr auto largest = std::numeric_limits<std::int64_t>::max();

auto at(std::vector<std::int64_t> const& nanoseconds) -> std::vector<ticks> {
    std::vector<ticks> times;
    for (auto const t : nanoseconds) times.emplace_back(t);
    return times;
}

auto message(auto const& call) -> std::string {
    try {
        call();
    } catch (std::invalid_argument const& error) {
        return error.what();
    }
    return "nothing thrown";
}

/// A search of a user: any that satisfies the concept; here one that forwards.
struct users_search {
    users_search(int ranks, int blocks)
        : m_search(ranks, blocks) {}
    void join(int position) { m_search.join(position); }
    void begin_round(std::span<int const> active) { m_search.begin_round(active); }
    auto receive(int position, bool sink) -> papcoll::search_match {
        return m_search.receive(position, sink);
    }
    auto empty(int position) const -> bool { return m_search.empty(position); }

private:
    papcoll::linear_search m_search;
};

struct without_blocks : users_search {
    explicit without_blocks(int ranks)
        : users_search(ranks, 1) {}
};
struct with_mutable_empty : users_search {
    using users_search::users_search;
    auto empty(int position) -> bool { return users_search::empty(position); }
};
struct with_plain_pair : users_search {
    using users_search::users_search;
    auto receive(int position, bool sink) -> std::pair<int, int> {
        auto const match = users_search::receive(position, sink);
        return {match.peer, match.block};
    }
};

} // namespace

TEST_CASE("the search concept takes a user's search and refuses near misses") {
    static_assert(papcoll::clairvoyant_search<users_search>);
    static_assert(!papcoll::clairvoyant_search<without_blocks>);
    static_assert(!papcoll::clairvoyant_search<with_mutable_empty>);
    static_assert(!papcoll::clairvoyant_search<with_plain_pair>);
    static_assert(papcoll::scheduler<papcoll::clairvoyant_scheduler<users_search>>);
    static_assert(papcoll::clairvoyant_scheduler<>::kind == papcoll::schedule_kind::reduction);
    static_assert(papcoll::clairvoyant_scheduler<>{}.round == std::chrono::milliseconds{1});
    instance const i{
        .ranks = 7, .blocks = 5, .root = 3, .round = ticks{4}, .arrivals = at({0, 3, 9, 1, 1, 30, 2})};
    CHECK(schedule<users_search>(i) == clairvoyant_cases::oracle(i));
}

TEST_CASE_TEMPLATE("origin and scale of the arrival times do not matter", Search, CLAIRVOYANT_SEARCHES) {
    auto const shifted = [](std::int64_t origin, std::int64_t scale) {
        instance i{.ranks = 6, .blocks = 5, .root = 4, .round = ticks{7 * scale}, .arrivals = {}};
        for (std::int64_t const t : {40, 3, 3, 17, 0, 22}) i.arrivals.emplace_back(origin + t * scale);
        return i;
    };
    auto const expected = clairvoyant_cases::oracle(shifted(0, 1));
    CHECK(schedule<Search>(shifted(0, 1)) == expected);
    CHECK(schedule<Search>(shifted(-20, 1)) == expected);
    CHECK(schedule<Search>(shifted(smallest, 1)) == expected);
    CHECK(schedule<Search>(shifted(largest - 40, 1)) == expected);
    CHECK(schedule<Search>(shifted(-(std::int64_t{1} << 60), std::int64_t{1} << 56)) == expected);
}

TEST_CASE_TEMPLATE("idle rounds are skipped, however many", Search, CLAIRVOYANT_SEARCHES) {
    auto const spread = std::int64_t{1} << 62;
    for (int root = 0; root < 3; ++root) {
        instance const i{.ranks = 3,
                         .blocks = 2,
                         .root = root,
                         .round = ticks{1},
                         .arrivals = at({spread, 0, spread / 2})};
        auto const all = schedule<Search>(i);
        CHECK_FALSE(papcoll::verify_reduction(all, i.problem()));
        REQUIRE_FALSE(all.empty());
        CHECK(all.front().step == spread / 2);
        CHECK(all.back().step >= spread);
        CHECK(all.back().step < spread + 4);
    }
}

TEST_CASE_TEMPLATE("an arrival exactly one round after the head is in the next round, ties by rank", Search,
                   CLAIRVOYANT_SEARCHES) {
    for (auto const& arrivals :
         {at({10, 0, 10, 20}), at({0, 10, 0, 10}), at({20, 10, 0, 20}), at({10, 10, 10, 0})})
        for (int root = 0; root < 4; ++root) {
            instance const i{.ranks = 4, .blocks = 3, .root = root, .round = ticks{10}, .arrivals = arrivals};
            CAPTURE(i.describe());
            CHECK(schedule<Search>(i) == clairvoyant_cases::oracle(i));
        }
}

TEST_CASE_TEMPLATE("one rank, one block, no arrivals", Search, CLAIRVOYANT_SEARCHES) {
    CHECK(schedule<Search>({.ranks = 1, .blocks = 9, .root = 0, .round = ticks{1}, .arrivals = at({-5})})
              .empty());
    CHECK(schedule<Search>({.ranks = 1, .blocks = 1, .root = 0, .round = ticks{1}, .arrivals = {}}).empty());
    for (int ranks = 2; ranks < 20; ++ranks)
        for (int root : {0, ranks / 2, ranks - 1}) {
            instance together{.ranks = ranks, .blocks = 1, .root = root, .round = ticks{3}, .arrivals = {}};
            auto const all = schedule<Search>(together);
            CHECK(all == clairvoyant_cases::oracle(together));
            CHECK(all.size() == static_cast<std::size_t>(ranks - 1));
            together.arrivals.assign(static_cast<std::size_t>(ranks), ticks{-77});
            CHECK(schedule<Search>(together) == all);
        }
}

TEST_CASE_TEMPLATE("a root that is first, last or in the middle", Search, CLAIRVOYANT_SEARCHES) {
    for (int root = 0; root < 9; ++root) {
        instance i{.ranks = 9, .blocks = 6, .root = root, .round = ticks{5}, .arrivals = {}};
        for (std::int64_t r = 0; r < 9; ++r) i.arrivals.emplace_back(r * 13);
        CHECK(schedule<Search>(i) == clairvoyant_cases::oracle(i));
        CHECK_FALSE(papcoll::verify_reduction(schedule<Search>(i), i.problem()));
    }
}

TEST_CASE("bad arguments are refused by name") {
    auto const two = at({0, 1});
    papcoll::problem const p{.ranks = 2, .root = 0, .blocks = 1, .arrivals = two};
    papcoll::clairvoyant_scheduler<papcoll::linear_search> const good;
    for (auto const round : {ticks{0}, ticks{-3}, ticks::min()}) {
        papcoll::clairvoyant_scheduler<> const bad{.round = round};
        CHECK(message([&] { (void)bad.transfers(p); }).find("round") != std::string::npos);
        CHECK(message([&] { (void)bad.for_rank(p, 1); }).find("round") != std::string::npos);
    }
    auto const wide = at({0, (std::int64_t{1} << 62) + 1});
    auto const widest = at({smallest, largest});
    for (auto const& arrivals : {wide, widest}) {
        auto far = p;
        far.arrivals = arrivals;
        CHECK(message([&] { (void)good.transfers(far); }).find("arrivals") != std::string::npos);
    }
    auto malformed = p;
    malformed.ranks = 3;
    CHECK(message([&] { (void)good.transfers(malformed); }).find("arrivals") != std::string::npos);
    CHECK(message([&] { (void)good.for_rank(p, 2); }).find("rank") != std::string::npos);
    CHECK(message([&] { (void)good.for_rank(p, -1); }).find("rank") != std::string::npos);
    std::vector<int> const owners{1};
    auto owned = p;
    owned.owners = owners;
    CHECK(message([&] { (void)good.transfers(owned); }).find("owners") != std::string::npos);
}

TEST_CASE("memory per (process, block) cell") {
    auto const bits_per_cell = [](auto const& search, int ranks, int blocks) {
        return 8.0 * static_cast<double>(search.memory_bytes()) / (static_cast<double>(ranks) * blocks);
    };
    for (int const size : {512, 1024}) {
        CHECK(bits_per_cell(papcoll::segment_tree<>(size, size), size, size) <= 5.0);
        CHECK(bits_per_cell(papcoll::segment_tree<papcoll::word_bitset>(size, size), size, size) <= 5.0);
        CHECK(bits_per_cell(papcoll::sliced_counters<>(size, size), size, size) <= 2.1);
        CHECK(bits_per_cell(papcoll::linear_search(size, size), size, size) <= 8.0);
    }
}
