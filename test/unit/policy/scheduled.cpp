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

// Whoever owns the blocks, all go to the root.
struct to_the_root : own_schedulers::to_the_owners {
    [[nodiscard]] auto for_rank(papcoll::problem p, int rank) const -> papcoll::rank_schedule {
        p.owners = {};
        return to_the_owners::for_rank(p, rank);
    }
};
// All blocks come from the root.
struct from_the_root : own_schedulers::round_the_ring {
    [[nodiscard]] auto for_rank(papcoll::problem p, int rank) const -> papcoll::rank_schedule {
        p.owners = {};
        return round_the_ring::for_rank(p, rank);
    }
};

auto call_of(papcoll::collective_kind operation, int ranks, int rank) -> papcoll::call_shape {
    papcoll::call_shape shape{.operation = operation, .ranks = ranks, .rank = rank};
    shape.count = 100;
    shape.element_bytes = 8;
    return shape;
}
papcoll::link_model const usual_link{papcoll::ticks(1'000), 1.0};

} // namespace

TEST_CASE("peers that are no ranks, and the rank itself, are refused before there is a plan") {
    auto const shape = call_of(papcoll::collective_kind::broadcast, 4, 1);
    for (bool const sends : {false, true})
        for (int const peer : {-1, 4, 99, 1}) {
            CAPTURE(peer);
            papcoll::scheduled<astray> const policy{.algorithm = {{}, peer, sends}};
            auto const why = peer == 1
                                 ? " goes from a rank to itself"
                                 : " names rank " + std::to_string(peer) + ", which is not among the 4 ranks";
            CHECK_THROWS_WITH_AS((void)policy.plan(shape, usual_link), doctest::Contains(why.c_str()),
                                 std::invalid_argument);
        }
    CHECK_NOTHROW((void)papcoll::scheduled<own_schedulers::round_the_ring>{}.plan(shape, usual_link));
}

TEST_CASE("schedules that do not end with each block where it belongs are refused on all ranks") {
    using kind = papcoll::collective_kind;
    for (int const ranks : {2, 3, 5, 7, 8, 13})
        for (int rank = 0; rank < ranks; ++rank) {
            CAPTURE(ranks);
            CAPTURE(rank);
            // The root keeps the others' blocks, they give theirs away.
            papcoll::scheduled<to_the_root> const up;
            auto const mine = " does not have block " + std::to_string(rank) + ", which rank " +
                              std::to_string(rank) + " owns";
            CHECK_THROWS_WITH_AS(
                (void)up.plan(call_of(kind::reduce_scatter, ranks, rank), usual_link),
                doctest::Contains(rank == 0 ? " keeps block 1, which rank 1 owns" : mine.c_str()),
                std::invalid_argument);
            CHECK_NOTHROW((void)up.plan(call_of(kind::reduce, ranks, rank), usual_link));
            CHECK_NOTHROW((void)up.plan(call_of(kind::all_reduce, ranks, rank), usual_link));

            papcoll::scheduled<from_the_root> const down;
            CHECK_THROWS_AS((void)down.plan(call_of(kind::all_gather, ranks, rank), usual_link),
                            std::invalid_argument);
            CHECK_NOTHROW((void)down.plan(call_of(kind::broadcast, ranks, rank), usual_link));

            papcoll::scheduled<own_schedulers::to_the_owners> const right;
            CHECK_NOTHROW((void)right.plan(call_of(kind::reduce_scatter, ranks, rank), usual_link));
        }
}
