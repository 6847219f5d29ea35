// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/policy/knomial_tree.hpp>
#include <papcoll/policy/linear.hpp>
#include <papcoll/transport/threads.hpp>

#include <cstdint>

#include "../../support/sanitized.hpp"
#include "../../support/scatter_suite.hpp"

using papcoll::threads::endpoint;

namespace {

/// f(policy) for all of papcoll's.
template <class F>
void each_policy(F const& f) {
    f(papcoll::linear{});
    f(papcoll::knomial_tree{});
}
void all_policies(endpoint& self) {
    each_policy([&](auto const& policy) { scatter_suite::promises(self, self.rank(), self.size(), policy); });
}

} // namespace

TEST_CASE("scatter on threads") {
    for (int const ranks : test_support::thread_counts) {
        CAPTURE(ranks);
        papcoll::threads::run(ranks, all_policies);
    }
}

TEST_CASE("scatter with forced rendezvous, random delivery and messages that are cut") {
    for (int const ranks : {2, 3, 5, 8}) {
        CAPTURE(ranks);
        auto const seed = static_cast<std::uint64_t>(ranks);
        papcoll::threads::run(ranks, {.eager_limit = 0, .seed = seed}, all_policies);
        papcoll::threads::run(ranks, {.eager_limit = 0, .seed = seed, .max_message_bytes = 100},
                              all_policies);
    }
}

TEST_CASE("scatter from every root, on links where messages are cut and on others") {
    for (int const ranks : {1, 2, 3, 4, 6, 9, 13})
        papcoll::threads::run(ranks, [](endpoint& self) {
            each_policy([&](auto const& policy) {
                scatter_suite::every_root(self, self.rank(), self.size(), policy);
                scatter_suite::on_links(self, self.rank(), self.size(), policy);
            });
        });
}

TEST_CASE("scatter: forms, mistakes and disagreements") {
    for (int const ranks : {1, 2, 5, 7, 13})
        papcoll::threads::run(ranks, [](endpoint& self) {
            each_policy(
                [&](auto const& policy) { scatter_suite::forms(self, self.rank(), self.size(), policy); });
            scatter_suite::bad_arguments(self, self.rank(), self.size(), papcoll::linear{});
            scatter_suite::agreed_checks(self, self.rank(), self.size());
            all_policies(self); // agreed, too
        });
}
