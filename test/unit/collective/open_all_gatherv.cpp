// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/transport/threads.hpp>

#include "../../support/open_uneven_suite.hpp"
#include "../../support/sanitized.hpp"

using papcoll::threads::endpoint;

namespace {

void uneven(endpoint& self) { open_suite::all_uneven(self, self.rank(), self.size()); }

} // namespace

TEST_CASE("split-phase all-gathers of uneven parts") {
    for (int const ranks : test_support::thread_counts) {
        CAPTURE(ranks);
        papcoll::threads::run(ranks, uneven);
    }
}

TEST_CASE(
    "split-phase all-gathers of uneven parts with forced rendezvous, random delivery and short messages") {
    for (int const ranks : {2, 5})
        papcoll::threads::run(ranks, {.eager_limit = 0, .seed = 3, .max_message_bytes = 1000}, uneven);
}

TEST_CASE("split-phase all-gathers of uneven parts: mistakes") {
    for (int const ranks : {1, 2, 5})
        papcoll::threads::run(
            ranks, [](endpoint& self) { open_suite::uneven_mistakes(self, self.rank(), self.size()); });
}
