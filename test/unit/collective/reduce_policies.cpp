// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/transport/threads.hpp>

#include "../../support/own_schedulers.hpp"
#include "../../support/reduce_calls.hpp"
#include "../../support/sanitized.hpp"

using papcoll::threads::endpoint;

namespace {

void all_policies(endpoint& self) {
    auto const promises = [&](auto const& policy) {
        reduce_calls::promises(self, self.rank(), self.size(), policy);
    };
    promises(papcoll::circulant{});
    promises(papcoll::circulant{.block_bytes = 56});
    promises(own_schedulers::to_the_owners{});
    promises(papcoll::reversed(own_schedulers::round_the_ring{}));
}

} // namespace

TEST_CASE("reduce on threads, over all policies") {
    for (int const ranks : test_support::thread_counts) {
        CAPTURE(ranks);
        papcoll::threads::run(ranks, all_policies);
    }
}

TEST_CASE("reduce over all policies with forced rendezvous, random delivery and messages that are cut") {
    for (int const ranks : {2, 3, 5, 8}) {
        CAPTURE(ranks);
        auto const seed = static_cast<std::uint64_t>(ranks);
        papcoll::threads::run(ranks, {.eager_limit = 0, .seed = seed}, all_policies);
        papcoll::threads::run(ranks, {.eager_limit = 0, .seed = seed, .max_message_bytes = 100},
                              all_policies);
    }
}

TEST_CASE("reduce refuses blocks of no bytes") {
    papcoll::threads::run(3, [](endpoint& self) {
        int const one = 1;
        int sum = 0;
        collective_suite::says("block_bytes", [&] {
            papcoll::reduce(self, one, sum, std::plus<>(), 0, papcoll::circulant{.block_bytes = 0});
        });
        papcoll::reduce(self, one, sum, std::plus<>(), 0, papcoll::circulant{});
        CHECK(sum == (self.rank() == 0 ? 3 : 0));
    });
}
