// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/policy/scheduled.hpp>

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <support/own_schedulers.hpp>

namespace {

// Rank 1 names another peer, once as a sender and once as a receiver.
struct astray : own_schedulers::round_the_ring {
    int peer = 0;
    bool sends = false;

    [[nodiscard]] auto for_rank(papcoll::problem const& p, int rank) const -> papcoll::rank_schedule {
        auto share = round_the_ring::for_rank(p, rank);
        if (rank == 1) (sends ? share.sends : share.receives).front().peer = peer;
        return share;
    }
};

} // namespace

TEST_CASE("peers that are no ranks, and the rank itself, are refused before there is a plan") {
    papcoll::call_shape shape{.operation = papcoll::collective_kind::broadcast, .ranks = 4, .rank = 1};
    shape.count = 100;
    shape.element_bytes = 8;
    papcoll::link_model const link{papcoll::ticks(1'000), 1.0};
    for (bool const sends : {false, true})
        for (int const peer : {-1, 4, 99, 1}) {
            CAPTURE(peer);
            papcoll::scheduled<astray> const policy{.algorithm = {{}, peer, sends}};
            auto const why = peer == 1
                                 ? " goes from a rank to itself"
                                 : " names rank " + std::to_string(peer) + ", which is not among the 4 ranks";
            CHECK_THROWS_WITH_AS((void)policy.plan(shape, link), doctest::Contains(why.c_str()),
                                 std::invalid_argument);
        }
    CHECK_NOTHROW((void)papcoll::scheduled<own_schedulers::round_the_ring>{}.plan(shape, link));
}
