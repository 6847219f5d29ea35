// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/scheduler/circulant/send_blocks.hpp>
#include <papcoll/scheduler/circulant/table.hpp>

#include <doctest/doctest.h>

#include <algorithm>

#include "../../support/circulant_conditions.hpp"
#include "../../support/sanitized.hpp"

namespace {

using papcoll::circulant_skips;
using papcoll::circulant_table;

auto right(circulant_table const& table, int rank) -> bool {
    auto const& skips = table.skips();
    papcoll::circulant_blocks receives;
    for (int k = 0; k < skips.rounds(); ++k) receives.set(k, table.receives(rank, k));
    auto const expected = [&](int k) { return table.receives(skips.target(rank, k), k); };
    return circulant_conditions::hold(skips, rank, receives, send_blocks(skips, rank), expected);
}

// How many entries of a send schedule need a search of their own.
auto searches(circulant_skips const& skips, int rank) -> int {
    papcoll::detail::send_walk walk(skips, rank);
    int count = 0;
    for (int k = skips.rounds() - 1; k >= 1; --k) count += walk.step(k) ? 0 : 1;
    return count;
}

constexpr int most_ranks = test_support::sanitized ? 1000 : 4096;

} // namespace

TEST_CASE("the schedules of every rank of every p up to 4096 are right") {
    for (int p = 1; p <= most_ranks; ++p) {
        circulant_table const table{circulant_skips(p)};
        for (int rank = 0; rank < p; ++rank)
            if (!right(table, rank)) FAIL_CHECK("wrong schedule of rank " << rank << " of " << p);
    }
}

TEST_CASE("no send schedule needs more than four searches") {
    int most = 0;
    for (int p = 2; p <= most_ranks; ++p) {
        circulant_skips const skips(p);
        for (int rank = 1; rank < p; ++rank) most = std::max(most, searches(skips, rank));
    }
    CHECK(most >= 1); // else send_walk claims to know everything
    CHECK(most <= 4);
}

TEST_CASE("the conditions refuse schedules with a mistake") {
    circulant_skips const skips(20);
    auto const expected = [&](int k) { return receive_blocks(skips, skips.target(7, k))[k]; };
    auto const receives = receive_blocks(skips, 7);
    auto const sends = send_blocks(skips, 7);
    CHECK(circulant_conditions::hold(skips, 7, receives, sends, expected));
    for (int k = 0; k < skips.rounds(); ++k) {
        auto other = receives;
        other.set(k, receives[k] == -1 ? -2 : receives[k] + 1);
        CHECK_FALSE(circulant_conditions::hold(skips, 7, other, sends, expected));
        other = sends;
        other.set(k, sends[k] == -1 ? -2 : sends[k] + 1);
        CHECK_FALSE(circulant_conditions::hold(skips, 7, receives, other, expected));
    }
    // A block sent in the round in which it arrives.
    auto const itself = [&](int k) { return receives[k]; };
    CHECK_FALSE(circulant_conditions::hold(skips, 7, receives, receives, itself));
}
