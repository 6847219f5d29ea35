// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/policy/all_to_all.hpp>
#include <papcoll/transport/threads.hpp>

#include <cstdint>

#include "../../support/all_to_allv_suite.hpp"
#include "../../support/sanitized.hpp"

using papcoll::threads::endpoint;

namespace {

/// f(policy) for all of papcoll's.
template <class F>
void each_policy(F const& f) {
    f(papcoll::all_to_all_linear{});
    f(papcoll::all_to_all_pairwise{});
    f(papcoll::all_to_all_linear_sync{});
    f(papcoll::all_to_all_linear_sync{.window = 1});
}
void all_policies(endpoint& self) {
    each_policy(
        [&](auto const& policy) { all_to_allv_suite::promises(self, self.rank(), self.size(), policy); });
}

} // namespace

TEST_CASE("all_to_allv on threads") {
    for (int const ranks : test_support::thread_counts) {
        CAPTURE(ranks);
        papcoll::threads::run(ranks, all_policies);
    }
}

TEST_CASE("all_to_allv with forced rendezvous, random delivery and messages that are cut") {
    for (int const ranks : {2, 3, 5, 8}) {
        CAPTURE(ranks);
        auto const seed = static_cast<std::uint64_t>(ranks);
        papcoll::threads::run(ranks, {.eager_limit = 0, .seed = seed}, all_policies);
        papcoll::threads::run(ranks, {.eager_limit = 0, .seed = seed, .max_message_bytes = 100},
                              all_policies);
    }
}

TEST_CASE("all_to_allv: forms, mistakes and disagreements") {
    for (int const ranks : {1, 2, 5, 7, 13})
        papcoll::threads::run(ranks, [](endpoint& self) {
            each_policy([&](auto const& policy) {
                all_to_allv_suite::forms(self, self.rank(), self.size(), policy);
            });
            all_to_allv_suite::bad_arguments(self, self.rank(), self.size(), papcoll::all_to_all_pairwise{});
            all_to_allv_suite::agreed_checks(self, self.rank(), self.size());
            all_policies(self); // agreed, too
        });
}
