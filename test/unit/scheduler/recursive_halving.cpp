// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/scheduler/recursive_halving.hpp>
#include <papcoll/scheduler/scheduler.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>
#include <stdexcept>

#include "../../support/sanitized.hpp"
#include "support/circulant_owners.hpp"

namespace {

using papcoll::problem;
using papcoll::recursive_halving_scheduler;

static_assert(papcoll::scheduler<recursive_halving_scheduler>);

} // namespace

TEST_CASE("recursive halving reduces every block to its owner") {
    circulant_owners::for_problems([](problem const& p) {
        REQUIRE(circulant_owners::violation(recursive_halving_scheduler{}, p).value_or("right") == "right");
    });
}

TEST_CASE("a rank sends p − 1 parts in log2 p rounds; of pairs one sends all in the first, and gets its own "
          "in the last") {
    for (int p = 1; p <= test_support::at_most(130, 30); ++p) {
        auto const groups = static_cast<int>(std::bit_floor(static_cast<unsigned>(p)));
        int const pairs = p - groups;
        auto const rounds = static_cast<int>(std::bit_width(static_cast<unsigned>(groups))) - 1;
        auto const given = circulant_owners::distributions(p).front();
        for (int rank = 0; rank < p; ++rank) {
            CAPTURE(p);
            CAPTURE(rank);
            auto const share = recursive_halving_scheduler{}.for_rank(given.of(p), rank);
            auto const sent = static_cast<int>(share.sends.size());
            auto const received = static_cast<int>(share.receives.size());
            bool const gives = rank < 2 * pairs && rank % 2 == 1;
            bool const takes = rank < 2 * pairs && rank % 2 == 0;
            if (gives) {
                CHECK(sent == p);
                CHECK(received == 1);
                CHECK(share.receives.front().block == rank);
                CHECK(share.receives.front().step == rounds + 1);
                continue;
            }
            CHECK(sent == p - 1);
            CHECK(received >= (takes ? p : 0));
            std::map<papcoll::step_type, int> to, from; // one peer in a round, both ways
            for (auto const& t : share.sends) CHECK(to.emplace(t.step, t.peer).first->second == t.peer);
            for (auto const& t : share.receives) CHECK(from.emplace(t.step, t.peer).first->second == t.peer);
            if (takes) CHECK((from.erase(0) == 1 && to.erase(rounds + 1) == 1));
            CHECK(to == from);
            CHECK(to.size() == static_cast<std::size_t>(rounds));
        }
    }
    CHECK_THROWS_AS((void)recursive_halving_scheduler{}.for_rank({.ranks = 2}, 2), std::invalid_argument);
}
