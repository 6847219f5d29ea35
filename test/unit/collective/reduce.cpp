// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/transport/threads.hpp>

#include "../../support/reduce_suite.hpp"
#include "../../support/sanitized.hpp"

using papcoll::threads::endpoint;
using papcoll::threads::options;

namespace {

void run(int ranks, options const& o) {
    CAPTURE(ranks);
    papcoll::threads::run(ranks, o,
                          [](endpoint& self) { reduce_suite::all(self, self.rank(), self.size()); });
}

struct waits_for_itself {
    static constexpr auto kind = papcoll::schedule_kind::reduction;
    auto for_rank(papcoll::problem const&, int rank) const -> papcoll::rank_schedule {
        papcoll::rank_schedule share; // the block is sent twice with nothing received in between
        if (rank == 1) share.sends = {{0, 0, 0}, {2, 0, 0}};
        if (rank == 0) share.receives = {{0, 1, 0}};
        return share;
    }
};

} // namespace

TEST_CASE("reduce on threads") {
    for (int const ranks : test_support::thread_counts) run(ranks, {});
}

TEST_CASE("reduce on threads with forced rendezvous and random delivery") {
    for (int const ranks : {2, 3, 5, 8})
        run(ranks, {.eager_limit = 0, .seed = static_cast<std::uint64_t>(ranks)});
}

TEST_CASE("messages longer than the transport takes are cut") {
    for (int const ranks : {2, 5}) run(ranks, {.eager_limit = 64, .seed = 11, .max_message_bytes = 1000});
}

TEST_CASE("a schedule that cannot proceed throws instead of hanging") {
    CHECK_THROWS_AS(papcoll::threads::run(2,
                                          [](endpoint& self) {
                                              std::vector<int> in(4, 1), out(4);
                                              papcoll::reduce(self, in.data(), 4, out.data(), std::plus<>(),
                                                              0, waits_for_itself{});
                                          }),
                    std::logic_error);
}
