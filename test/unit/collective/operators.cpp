// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/transport/threads.hpp>

#include "../../support/operators_suite.hpp"
#include "../../support/own_schedulers.hpp"

using operators_suite::modular_sum;
using papcoll::threads::endpoint;

namespace {

/// The same operator, of which papcoll does not know that it is exact.
auto inexact(modular_sum op) {
    return papcoll::commutative([op](std::int64_t a, std::int64_t b) { return op(a, b); });
}

void all_policies(endpoint& self) {
    auto const each = [&](auto const& policy) {
        auto const test = [&](auto const& wrap) {
            operators_suite::all_reductions(self, self.rank(), self.size(), policy, wrap(modular_sum{97}));
            operators_suite::throwing(self, self.rank(), self.size(), policy, wrap);
        };
        test([](modular_sum op) { return papcoll::commutative(op); });
        test(inexact);
    };
    each(papcoll::circulant{});
    each(own_schedulers::to_the_owners{});
    operators_suite::rank_order(self, self.rank(), self.size(), operators_suite::down_to_0{});
    operators_suite::rank_order(
        self, self.rank(), self.size(),
        papcoll::scheduled<operators_suite::down_to_0>{.algorithm = {}, .segments = 5});
}

} // namespace

TEST_CASE("operators of one's own in all reductions, throwing ones among them") {
    for (int const ranks : {1, 2, 3, 5, 8, 13}) {
        CAPTURE(ranks);
        papcoll::threads::run(ranks, all_policies);
        papcoll::threads::run(ranks, {.eager_limit = 0, .seed = 9, .max_message_bytes = 300}, all_policies);
    }
}
