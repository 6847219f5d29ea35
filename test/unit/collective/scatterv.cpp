// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/policy/linear.hpp>
#include <papcoll/transport/threads.hpp>

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "../../support/rooted_parts_suite.hpp"
#include "../../support/sanitized.hpp"

using papcoll::threads::endpoint;

namespace {

/// f(policy) for all of papcoll's.
template <class F>
void each_policy(F const& f) {
    f(papcoll::linear{});
}
void all_policies(endpoint& self) {
    each_policy([&](auto const& policy) {
        rooted_parts_suite::scatterv_promises(self, self.rank(), self.size(), policy);
    });
}

} // namespace

TEST_CASE("scatterv on threads") {
    for (int const ranks : test_support::thread_counts) {
        CAPTURE(ranks);
        papcoll::threads::run(ranks, all_policies);
    }
}

TEST_CASE("scatterv with forced rendezvous, random delivery and messages that are cut") {
    for (int const ranks : {2, 3, 5, 8}) {
        CAPTURE(ranks);
        auto const seed = static_cast<std::uint64_t>(ranks);
        papcoll::threads::run(ranks, {.eager_limit = 0, .seed = seed}, all_policies);
        papcoll::threads::run(ranks, {.eager_limit = 0, .seed = seed, .max_message_bytes = 100},
                              all_policies);
    }
}

TEST_CASE("scatterv: forms, mistakes and disagreements") {
    for (int const ranks : {1, 2, 5, 7, 13})
        papcoll::threads::run(ranks, [](endpoint& self) {
            rooted_parts_suite::forms(self, self.rank(), self.size(), papcoll::linear{});
            rooted_parts_suite::agreed_checks(self, self.rank(), self.size());
            all_policies(self); // agreed, too
        });
}

TEST_CASE("scatterv refuses a vector that is shorter than the parts") {
    papcoll::threads::run(1, [](endpoint& self) {
        std::vector<int> const three(3), sizes{4}, gaps{1}, behind{2};
        std::vector<int> out(4);
        papcoll::attach(self, {.link = papcoll::link_model{papcoll::ticks(1000), 0.1}});
        CHECK_THROWS_AS(papcoll::scatterv(self, three, sizes, out.data(), 0), std::invalid_argument);
        CHECK_THROWS_AS(papcoll::scatterv(self, three, behind, std::vector<int>{2}, out.data(), 2, 0),
                        std::invalid_argument);
        papcoll::scatterv(self, three, behind, gaps, out.data(), 2, 0); // all of it
    });
}
