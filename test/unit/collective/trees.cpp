// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/core.hpp>
#include <papcoll/transport/threads.hpp>

#include "../../support/sanitized.hpp"
#include "../../support/trees_suite.hpp"

using papcoll::threads::endpoint;

namespace {

void all(endpoint& self) { trees_suite::all(self, self.rank(), self.size()); }

} // namespace

TEST_CASE("tree policies on threads") {
    for (int const ranks : test_support::thread_counts) {
        CAPTURE(ranks);
        papcoll::threads::run(ranks, all);
    }
}

TEST_CASE("tree policies with forced rendezvous, random delivery and messages that are cut") {
    for (int const ranks : {2, 5, 7}) {
        CAPTURE(ranks);
        auto const seed = static_cast<std::uint64_t>(ranks);
        papcoll::threads::run(ranks, {.eager_limit = 0, .seed = seed, .max_message_bytes = 300}, all);
    }
}
