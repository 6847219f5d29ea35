// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/scheduler/dissemination_all_gather.hpp>
#include <papcoll/scheduler/reversed.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include "../../support/sanitized.hpp"
#include "support/circulant_owners.hpp"

namespace {

using circulant_owners::for_problems;
using circulant_owners::violation;
using papcoll::dissemination_all_gather_scheduler;
using papcoll::problem;

static_assert(papcoll::scheduler<dissemination_all_gather_scheduler>);

} // namespace

TEST_CASE("a dissemination brings every block to every rank, whatever the radix") {
    for_problems([](problem const& p) {
        for (int const radix : {2, 3, 4, 8, 1000}) {
            if (p.ranks > 40 && radix > 4) continue;
            dissemination_all_gather_scheduler const s{radix};
            REQUIRE(violation(s, p).value_or("right") == "right");
            if (p.ranks <= 20) REQUIRE(violation(papcoll::reversed(s), p).value_or("right") == "right");
        }
    });
}

TEST_CASE("each rank moves p − 1 units, in ⌈log_k p⌉ rounds of at most k − 1 messages") {
    for (int p = 1; p <= test_support::at_most(130, 30); ++p)
        for (int const radix : {2, 3, 5, 16, 130}) {
            auto const given = circulant_owners::distributions(p).front();
            int rounds = 0;
            for (int reached = 1; reached < p; reached *= radix) ++rounds;
            for (int const rank : {0, p / 3, p - 1}) {
                auto const share = dissemination_all_gather_scheduler{radix}.for_rank(given.of(p), rank);
                CHECK(share.sends.size() == static_cast<std::size_t>(p - 1));
                CHECK(share.receives.size() == static_cast<std::size_t>(p - 1));
                std::map<papcoll::step_type, int> peers;
                for (auto const& t : share.sends) {
                    CHECK(t.step / (radix - 1) < rounds);
                    auto const [at, first] = peers.emplace(t.step, t.peer);
                    CHECK(at->second == t.peer); // one message in a step
                }
                CHECK(peers.size() <= static_cast<std::size_t>(rounds * (radix - 1)));
            }
        }
    CHECK_THROWS_AS((void)dissemination_all_gather_scheduler{1}.for_rank({.ranks = 2}, 0),
                    std::invalid_argument);
}

TEST_CASE("where p is a power of k a rank exchanges with those whose numbers differ in one digit") {
    struct power {
        int p, radix;
    };
    for (auto const of :
         std::vector<power>{{2, 2}, {8, 2}, {64, 2}, {9, 3}, {27, 3}, {16, 4}, {25, 5}, {7, 7}}) {
        int const p = of.p, radix = of.radix;
        CAPTURE(p);
        auto const given = circulant_owners::distributions(p).front();
        for (int rank = 0; rank < p; ++rank) {
            auto const share = dissemination_all_gather_scheduler{radix}.for_rank(given.of(p), rank);
            std::map<papcoll::step_type, std::set<int>> to, from;
            for (auto const& t : share.sends) to[t.step / (radix - 1)].insert(t.peer);
            for (auto const& t : share.receives) from[t.step / (radix - 1)].insert(t.peer);
            CHECK(to == from);
            int unit = 1;
            for (auto const& [round, peers] : to) {
                CHECK(peers.size() == static_cast<std::size_t>(radix - 1));
                for (int const peer : peers) {
                    CHECK(peer / (unit * radix) == rank / (unit * radix));
                    CHECK(peer % unit == rank % unit);
                }
                unit *= radix;
            }
        }
    }
}
