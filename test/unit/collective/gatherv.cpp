// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/policy/linear.hpp>
#include <papcoll/policy/sorted_linear.hpp>
#include <papcoll/transport/threads.hpp>

#include <cstdint>

#include "../../support/rooted_parts_suite.hpp"
#include "../../support/sanitized.hpp"

using papcoll::threads::endpoint;

namespace {

/// f(policy) for all of papcoll's.
template <class F>
void each_policy(F const& f) {
    f(papcoll::linear{});
    f(papcoll::sorted_linear{});
    f(papcoll::sorted_linear{.arrivals = {}, .first_bytes = 24});
}
void all_policies(endpoint& self) {
    each_policy([&](auto const& policy) {
        rooted_parts_suite::gatherv_promises(self, self.rank(), self.size(), policy);
    });
}

} // namespace

TEST_CASE("gatherv on threads") {
    for (int const ranks : test_support::thread_counts) {
        CAPTURE(ranks);
        papcoll::threads::run(ranks, all_policies);
    }
}

TEST_CASE("gatherv with forced rendezvous, random delivery and messages that are cut") {
    for (int const ranks : {2, 3, 5, 8}) {
        CAPTURE(ranks);
        auto const seed = static_cast<std::uint64_t>(ranks);
        papcoll::threads::run(ranks, {.eager_limit = 0, .seed = seed}, all_policies);
        papcoll::threads::run(ranks, {.eager_limit = 0, .seed = seed, .max_message_bytes = 100},
                              all_policies);
    }
}

TEST_CASE("gatherv: forms, mistakes and disagreements") {
    for (int const ranks : {1, 2, 5, 7, 13})
        papcoll::threads::run(ranks, [](endpoint& self) {
            each_policy([&](auto const& policy) {
                rooted_parts_suite::gatherv_promises(self, self.rank(), self.size(), policy);
            });
            rooted_parts_suite::forms(self, self.rank(), self.size(), papcoll::linear{});
            rooted_parts_suite::refused_policies(self, self.rank(), self.size());
            rooted_parts_suite::bad_arguments(self, self.rank(), self.size(), papcoll::linear{});
            rooted_parts_suite::agreed_checks(self, self.rank(), self.size());
            all_policies(self); // agreed, too
        });
}
