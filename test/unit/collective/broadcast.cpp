// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/transport/threads.hpp>

#include "../../support/broadcast_suite.hpp"
#include "../../support/own_schedulers.hpp"
#include "../../support/random_reduction.hpp"
#include "../../support/sanitized.hpp"

using papcoll::threads::endpoint;
using papcoll::threads::options;

namespace {

void all_policies(endpoint& self) {
    auto const promises = [&](auto const& policy) {
        broadcast_suite::promises(self, self.rank(), self.size(), policy);
    };
    promises(papcoll::circulant{});
    promises(papcoll::circulant{.block_bytes = 56});
    promises(own_schedulers::round_the_ring{});
    using detours = papcoll::reversed_scheduler<random_reduction>;
    promises(papcoll::scheduled<detours>{.algorithm = {{5}}, .segments = 4});
}

} // namespace

TEST_CASE("broadcast on threads") {
    for (int const ranks : test_support::thread_counts) {
        CAPTURE(ranks);
        papcoll::threads::run(ranks, all_policies);
    }
}

TEST_CASE("broadcast with forced rendezvous, random delivery and messages that are cut") {
    for (int const ranks : {2, 3, 5, 8}) {
        CAPTURE(ranks);
        auto const seed = static_cast<std::uint64_t>(ranks);
        papcoll::threads::run(ranks, {.eager_limit = 0, .seed = seed}, all_policies);
        papcoll::threads::run(ranks, {.eager_limit = 0, .seed = seed, .max_message_bytes = 100},
                              all_policies);
    }
}

TEST_CASE("broadcast: forms, mistakes and disagreements on threads") {
    for (int const ranks : {1, 2, 5})
        papcoll::threads::run(ranks, [](endpoint& self) {
            int const rank = self.rank();
            int const p = self.size();
            broadcast_suite::forms(self, rank, p, papcoll::circulant{});
            broadcast_suite::forms(self, rank, p, own_schedulers::round_the_ring{});
            broadcast_suite::bad_arguments(self, rank, p);
            broadcast_suite::agreed_checks(self, rank, p);
            broadcast_suite::promises(self, rank, p, papcoll::circulant{}); // agreed, too
        });
}
