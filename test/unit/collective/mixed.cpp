// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/transport/threads.hpp>

#include "../../support/mixed_suite.hpp"
#include "../../support/sanitized.hpp"

using papcoll::threads::endpoint;
using papcoll::threads::options;

namespace {

void run(int ranks, options const& o, std::vector<std::size_t> const& lengths) {
    CAPTURE(ranks);
    papcoll::threads::run(
        ranks, o, [&](endpoint& self) { mixed_suite::lengths(self, self.rank(), self.size(), lengths); });
}

} // namespace

TEST_CASE("different collectives under way together") {
    for (int const ranks : test_support::thread_counts) run(ranks, {}, {0, 1, 50});
    for (int const ranks : {2, 5, 8}) run(ranks, {.eager_limit = 0, .seed = 7}, {1, 50, 900});
}

TEST_CASE("long messages, admitted, cut at blocks and with a tail behind the head") {
    for (int const ranks : {2, 3, 5}) run(ranks, {}, {15'000});
    run(4, {.eager_limit = 0, .seed = 2}, {9'000});
}

TEST_CASE("long messages on a transport that takes short ones only") {
    for (int const ranks : {2, 5})
        run(ranks, {.eager_limit = 0, .seed = 3, .max_message_bytes = 1009}, {300, 5'000});
}
