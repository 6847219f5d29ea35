// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/scheduler/knomial_gather.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "../../support/sanitized.hpp"

using papcoll::knomial_gather_share;
using papcoll::rank_schedule;
using papcoll::transfer;

namespace {

/// Those with a message of a gather through a tree of this radix: none is left out but in the last round.
auto steps(int ranks, int radix) -> papcoll::step_type {
    papcoll::step_type round = 0;
    long long unit = 1;
    for (; unit * radix < ranks; unit *= radix) ++round;
    return ranks == 1 ? 0 : round * (radix - 1) + (ranks - 1) / unit;
}

/// What is wrong with the shares of all ranks, as a gather; empty: nothing.
auto violation(int ranks, int root, int radix) -> std::string {
    std::vector<rank_schedule> shares;
    for (int rank = 0; rank < ranks; ++rank) shares.push_back(knomial_gather_share(ranks, root, rank, radix));
    std::vector<transfer> sent, received;
    for (int rank = 0; rank < ranks; ++rank) {
        auto const& share = shares[static_cast<std::size_t>(rank)];
        for (auto const& t : share.sends) sent.push_back({t.step, rank, t.peer, t.block});
        for (auto const& t : share.receives) received.push_back({t.step, t.peer, rank, t.block});
        if (!std::is_sorted(share.sends.begin(), share.sends.end()) ||
            !std::is_sorted(share.receives.begin(), share.receives.end()))
            return "not in step order";
    }
    std::sort(sent.begin(), sent.end());
    std::sort(received.begin(), received.end());
    if (sent != received) return "sends and receives differ";

    std::vector<std::set<int>> held;
    for (int rank = 0; rank < ranks; ++rank) held.push_back({rank});
    std::set<std::tuple<papcoll::step_type, int>> busy; // a rank in a step
    std::set<std::tuple<papcoll::step_type, int, int>> messages;
    for (auto const& t : sent) {
        if (t.step < 0 || t.step >= steps(ranks, radix)) return "too many steps";
        if (messages.insert({t.step, t.from, t.to}).second)
            if (!busy.insert({t.step, t.from}).second || !busy.insert({t.step, t.to}).second)
                return "two messages of a rank in a step";
        if (held[static_cast<std::size_t>(t.from)].erase(t.block) == 0) return "sent what it does not hold";
        if (!held[static_cast<std::size_t>(t.to)].insert(t.block).second) return "it has it already";
    }
    if (static_cast<int>(messages.size()) != ranks - 1) return "not one message of each rank";
    // Nobody keeps anything, and so the root has one of each.
    for (int rank = 0; rank < ranks; ++rank)
        if (held[static_cast<std::size_t>(rank)].size() != static_cast<std::size_t>(rank == root ? ranks : 0))
            return "the parts are not at the root";
    return "";
}

} // namespace

TEST_CASE("every part comes to the root once, in as many steps as there must be, whatever the root") {
    for (int ranks = 1; ranks <= test_support::at_most(64, 20); ++ranks)
        for (int root = 0; root < std::min(ranks, 14); ++root)
            for (int const radix : {2, 3, 4, 8, 64}) {
                CAPTURE(ranks);
                CAPTURE(root);
                CAPTURE(radix);
                CHECK(violation(ranks, root, radix) == "");
                CHECK(violation(ranks, ranks - 1 - root, radix) == "");
            }
    for (int const ranks : {65, 100, 127, 128, 129, 500, 511, 512, 513, 777, 1000}) {
        if (test_support::sanitized && ranks > 130) continue;
        for (int const root : {0, 1, 12, ranks / 2, ranks - 1}) {
            CAPTURE(ranks);
            for (int const radix : {2, 5, 10}) CHECK(violation(ranks, root, radix) == "");
        }
    }
}

TEST_CASE("the parts of a message are those of ranks in a row") {
    for (int const ranks : {2, 7, 8, 33, 100})
        for (int const root : {0, 1, ranks - 1})
            for (int rank = 0; rank < ranks; ++rank) {
                if (rank == root) continue;
                std::set<int> sent;
                for (auto const& t : knomial_gather_share(ranks, root, rank, 3).sends) sent.insert(t.block);
                for (std::size_t i = 0; i < sent.size(); ++i)
                    CHECK(sent.contains((rank + static_cast<int>(i)) % ranks));
            }
}

TEST_CASE("the root receives its largest part last, and the shares of leaves are short at any size") {
    auto const at_root = knomial_gather_share(8, 3, 3, 2);
    CHECK(at_root.sends.empty());
    std::vector<int> peers;
    for (auto const& t : at_root.receives) peers.push_back(t.peer);
    CHECK(peers == std::vector{4, 5, 5, 7, 7, 7, 7});
    auto const flat = knomial_gather_share(8, 3, 3, 8);
    CHECK(flat.receives.size() == 7);
    CHECK(flat.receives.back() == papcoll::rank_transfer{6, 2, 2});
    int const many = 2'000'000'000;
    CHECK(knomial_gather_share(many, 0, 1, 2).sends == std::vector<papcoll::rank_transfer>{{0, 0, 1}});
    CHECK(knomial_gather_share(many, many - 1, many - 2, 2).receives.empty());
    CHECK(knomial_gather_share(1, 0, 0, 2) == rank_schedule{});
}

TEST_CASE("ranks and radices that cannot be are refused") {
    CHECK_THROWS_AS((void)knomial_gather_share(0, 0, 0, 2), std::invalid_argument);
    CHECK_THROWS_AS((void)knomial_gather_share(3, 0, 0, 1), std::invalid_argument);
    CHECK_THROWS_AS((void)knomial_gather_share(3, 3, 0, 2), std::invalid_argument);
    CHECK_THROWS_AS((void)knomial_gather_share(3, -1, 0, 2), std::invalid_argument);
    CHECK_THROWS_AS((void)knomial_gather_share(3, 0, 3, 2), std::invalid_argument);
    CHECK_THROWS_AS((void)knomial_gather_share(3, 0, -1, 2), std::invalid_argument);
}
