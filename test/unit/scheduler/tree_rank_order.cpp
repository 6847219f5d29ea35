// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/analysis/verify.hpp>
#include <papcoll/scheduler/binomial_tree.hpp>
#include <papcoll/scheduler/fibonacci_tree.hpp>
#include <papcoll/scheduler/greedy_tree.hpp>
#include <papcoll/scheduler/knomial_tree.hpp>
#include <papcoll/scheduler/reversed.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../support/sanitized.hpp"
#include "support/tree_cases.hpp"

namespace {

using papcoll::greedy_tree_scheduler;
using papcoll::problem;
using papcoll::ticks;
using papcoll::transfer;

static_assert(papcoll::scheduler<greedy_tree_scheduler> && greedy_tree_scheduler::keeps_rank_order);
// `scheduled` can tell equal ones and keep their plans
static_assert(papcoll::detail::told_scheduler<greedy_tree_scheduler>);
static_assert(papcoll::detail::told_scheduler<papcoll::knomial_tree_scheduler>);
static_assert(papcoll::scheduler<papcoll::binomial_tree_scheduler>);
static_assert(papcoll::scheduler<papcoll::fibonacci_tree_scheduler>);
static_assert(papcoll::binomial_tree_scheduler::keeps_rank_order);
static_assert(papcoll::fibonacci_tree_scheduler::keeps_rank_order);
static_assert(papcoll::scheduler<papcoll::knomial_tree_scheduler>);
static_assert(papcoll::knomial_tree_scheduler::keeps_rank_order);

/// Combines ranges of ranks as the executor combines operands: what comes from a lower rank goes to the left.
/// The first transfer after which a rank would hold ranks out of order, in words; empty: none.
auto rank_order_fault(std::vector<transfer> const& all, problem const& p) -> std::string {
    struct range {
        int low;
        int high;
    };
    std::vector<range> held;
    for (int block = 0; block < p.blocks; ++block)
        for (int rank = 0; rank < p.ranks; ++rank) held.push_back({rank, rank});
    auto const at = [&](int rank, int block) -> range& {
        return held[static_cast<std::size_t>(block * p.ranks + rank)];
    };
    for (auto const& t : all) {
        auto& from = at(t.from, t.block);
        auto& to = at(t.to, t.block);
        auto const& left = t.from < t.to ? from : to;
        auto const& right = t.from < t.to ? to : from;
        if (left.high + 1 != right.low)
            return "from " + std::to_string(t.from) + " to " + std::to_string(t.to) + " in step " +
                   std::to_string(t.step);
        to = {left.low, right.high};
        from = {-7, -7};
    }
    for (int block = 0; block < p.blocks; ++block)
        if (at(p.root, block).low != 0 || at(p.root, block).high != p.ranks - 1) return "the end";
    return {};
}

auto schedulers() -> std::vector<greedy_tree_scheduler> {
    std::vector<greedy_tree_scheduler> all;
    for (auto const& [d, c] : tree_cases::all_costs()) {
        all.push_back({.transfer_time = d, .compute_time = c});
        for (int const k : {1, 2, 3, 5, 8}) {
            all.push_back({.transfer_time = d, .compute_time = c, .max_transfers = k});
            all.push_back({.transfer_time = d, .compute_time = c, .max_reducers = k});
            all.push_back({.transfer_time = d, .compute_time = c, .max_transfers = k, .max_reducers = 9 - k});
        }
    }
    all.push_back({.transfer_time = ticks{0}, .compute_time = ticks{0}});
    return all;
}

template <class Scheduler>
void check_schedule(Scheduler const& s, problem const& p) {
    auto const all = s.transfers(p);
    REQUIRE(std::is_sorted(all.begin(), all.end()));
    REQUIRE(papcoll::verify_reduction(all, p).value_or("right") == "right");
    REQUIRE(rank_order_fault(all, p) == "");
    REQUIRE(all.size() == static_cast<std::size_t>((p.ranks - 1) * p.blocks));
}

template <class Scheduler>
void check_shares(Scheduler const& s, problem const& p) {
    std::vector<papcoll::rank_schedule> shares(static_cast<std::size_t>(p.ranks));
    for (auto const& t : papcoll::transfers(s, p)) {
        shares[static_cast<std::size_t>(t.from)].sends.push_back({t.step, t.to, t.block});
        shares[static_cast<std::size_t>(t.to)].receives.push_back({t.step, t.from, t.block});
    }
    for (int rank = 0; rank < p.ranks; ++rank)
        REQUIRE(s.for_rank(p, rank) == shares[static_cast<std::size_t>(rank)]);
}

} // namespace

TEST_CASE("every rank count up to 40 and every root combines in rank order, under all costs and limits") {
    for (auto const& s : schedulers())
        for (int n = 1; n <= test_support::at_most(40, 13); ++n)
            for (int root = 0; root < n; ++root) check_schedule(s, {.ranks = n, .root = root});
}

TEST_CASE("larger trees, too") {
    for (auto const& s : schedulers())
        for (int const n : test_support::sanitized ? std::vector{64} : std::vector{64, 100, 257, 1000})
            for (int const root : {0, 1, n / 3, n / 2, n - 2, n - 1})
                check_schedule(s, {.ranks = n, .root = root});
}

TEST_CASE("several blocks are pipelined in rank order") {
    for (auto const& s : schedulers())
        for (int const n : {1, 2, 3, 5, 7, 8, 13, 40})
            for (int const root : {0, n / 2, n - 1})
                for (int const blocks : {2, 3, 7})
                    check_schedule(s, {.ranks = n, .root = root, .blocks = blocks});
}

TEST_CASE("the strategies combine in rank order") {
    for (int n = 1; n <= test_support::at_most(40, 13); ++n)
        for (int root = 0; root < n; ++root)
            for (int const blocks : {1, 3}) {
                problem const p{.ranks = n, .root = root, .blocks = blocks};
                check_schedule(papcoll::binomial_tree_scheduler{}, p);
                check_schedule(papcoll::fibonacci_tree_scheduler{}, p);
                for (int const radix : {3, 4, 5, 8, 40})
                    check_schedule(papcoll::knomial_tree_scheduler(radix), p);
            }
    for (int const n : test_support::sanitized ? std::vector{81} : std::vector{64, 81, 100, 257, 1000})
        for (int const root : {0, 1, n / 3, n - 1})
            for (int const radix : {3, 9, 16, 1000})
                check_schedule(papcoll::knomial_tree_scheduler(radix), {.ranks = n, .root = root});
}

TEST_CASE("a k-nomial tree has ⌈log_k P⌉ rounds of k − 1 messages, and with radix 2 is the greedy one") {
    for (int n = 1; n <= test_support::at_most(300, 70); ++n) {
        for (int const radix : {2, 3, 4, 7, 16, 300}) {
            auto const tree = papcoll::grow_knomial_tree(n, radix);
            long long reached = 1;
            for (std::int64_t t = 1; t <= tree.finish.count(); ++t) reached *= radix;
            CHECK(reached >= n);
            CHECK((n == 1 || reached / radix < n));
            CHECK(std::is_sorted(tree.remaining.begin(), tree.remaining.end()));
            std::map<std::pair<int, std::int64_t>, int> received; // by a machine in a round
            for (std::size_t i = 1; i < tree.parent.size(); ++i) {
                CHECK(tree.remaining[i] > tree.remaining[static_cast<std::size_t>(tree.parent[i])]);
                CHECK(++received[{tree.parent[i], tree.remaining[i].count()}] < radix);
            }
        }
        auto const binomial = papcoll::grow_knomial_tree(n, 2);
        auto const greedy = papcoll::grow_greedy_tree(n, ticks{1}, ticks{0});
        CHECK(binomial.parent == greedy.parent);
        CHECK(binomial.remaining == greedy.remaining);
        CHECK(binomial.finish == greedy.finish);
    }
    CHECK_THROWS_AS((void)papcoll::grow_knomial_tree(3, 1), std::invalid_argument);
    CHECK_THROWS_AS((void)papcoll::grow_knomial_tree(0, 2), std::invalid_argument);
}

TEST_CASE("the checker sees operands out of order") {
    problem const p{.ranks = 3};
    CHECK(rank_order_fault({{0, 1, 0, 0}, {1, 2, 0, 0}}, p) == "");
    CHECK(rank_order_fault({{0, 2, 0, 0}, {1, 1, 0, 0}}, p) == "from 2 to 0 in step 0");
    CHECK(rank_order_fault({{0, 2, 1, 0}}, p) == "the end");
}

TEST_CASE("a rank's share is its part of the schedule, also reversed") {
    for (auto const& s : schedulers())
        for (int const n : {1, 2, 3, 8, 13})
            for (int const root : {0, n / 2})
                for (int const blocks : {1, 4}) {
                    problem const p{.ranks = n, .root = root, .blocks = blocks};
                    check_shares(s, p);
                    auto const back = papcoll::reversed(s);
                    CHECK(papcoll::verify_dissemination(papcoll::transfers(back, p), p).value_or("right") ==
                          "right");
                    check_shares(back, p);
                }
    for (int const n : {1, 2, 7, 12})
        for (int const blocks : {1, 3}) {
            problem const p{.ranks = n, .root = n / 2, .blocks = blocks};
            check_shares(papcoll::binomial_tree_scheduler{}, p);
            check_shares(papcoll::fibonacci_tree_scheduler{}, p);
            check_shares(papcoll::reversed(papcoll::binomial_tree_scheduler{}), p);
            check_shares(papcoll::reversed(papcoll::fibonacci_tree_scheduler{}), p);
            check_shares(papcoll::knomial_tree_scheduler(4), p);
            check_shares(papcoll::reversed(papcoll::knomial_tree_scheduler(4)), p);
        }
}

TEST_CASE("with one block the steps follow the times of the tree") {
    for (auto const& s : schedulers())
        for (int const n : {2, 7, 16, 33}) {
            problem const p{.ranks = n, .root = n / 2};
            auto const all = s.transfers(p);
            auto timed = tree_transfers(s.placed(p));
            REQUIRE(all.size() == timed.size());
            std::vector<ticks> begins; // in step order
            for (auto const& t : all)
                begins.push_back(std::find_if(timed.begin(), timed.end(), [&](auto const& other) {
                                     return other.from == t.from && other.to == t.to;
                                 })->begin);
            REQUIRE(std::is_sorted(begins.begin(), begins.end()));
            for (std::size_t i = 1; i < all.size() && s.transfer_time > ticks{0}; ++i)
                REQUIRE((all[i].step == all[i - 1].step) == (begins[i] == begins[i - 1]));
        }
}

TEST_CASE("a binomial tree takes as many steps as rounds, and a pipeline one period more per block") {
    for (int n = 2; n <= test_support::at_most(200, 70); ++n) {
        int const rounds = tree_cases::ceil_log2(n);
        papcoll::binomial_tree_scheduler const s;
        CHECK(s.transfers({.ranks = n}).back().step == rounds - 1);
        CHECK(s.transfers({.ranks = n, .root = n / 2, .blocks = 5}).back().step == rounds - 1 + 4 * rounds);
    }
    // one reducer: everybody sends to it, in turn
    greedy_tree_scheduler const star{.max_reducers = 1};
    CHECK(star.transfers({.ranks = 9, .root = 4, .blocks = 3}).back().step == 8 * 3 - 1);
}

TEST_CASE("problems that cannot be are named") {
    greedy_tree_scheduler const s;
    std::vector<int> const owners{0, 1};
    CHECK_THROWS_WITH_AS((void)s.for_rank({.ranks = 2, .blocks = 2, .owners = owners}, 0),
                         doctest::Contains("owners must be the root, but it is 1"), std::invalid_argument);
    CHECK_THROWS_WITH_AS((void)s.for_rank({.ranks = 2}, 2), doctest::Contains("rank must be"),
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS((void)s.transfers({.ranks = 0}), doctest::Contains("problem.ranks"),
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS((void)greedy_tree_scheduler{.max_transfers = -1}.transfers({.ranks = 2}),
                         doctest::Contains("max_transfers"), std::invalid_argument);
    CHECK_THROWS_WITH_AS((void)papcoll::binomial_tree_scheduler{}.for_rank({.ranks = 2, .root = 2}, 0),
                         doctest::Contains("problem.root"), std::invalid_argument);
    CHECK_THROWS_WITH_AS((void)papcoll::fibonacci_tree_scheduler{}.for_rank({.ranks = 2}, -1),
                         doctest::Contains("rank must be"), std::invalid_argument);
}
