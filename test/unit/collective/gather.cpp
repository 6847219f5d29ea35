// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/transport/threads.hpp>

#include "../../support/gather_suite.hpp"
#include "../../support/open_suite.hpp"
#include "../../support/sanitized.hpp"

using papcoll::threads::endpoint;

namespace {

void all_policies(endpoint& self) {
    auto const promises = [&](auto const& policy) {
        gather_suite::promises(self, self.rank(), self.size(), policy);
    };
    promises(papcoll::linear{});
    promises(papcoll::knomial_tree{});
    for (auto const& arrivals : open_suite::all_arrivals(self.size()))
        promises(papcoll::sorted_linear{.arrivals = arrivals, .first_bytes = 24});
}

} // namespace

TEST_CASE("gather on threads") {
    for (int const ranks : test_support::thread_counts) {
        CAPTURE(ranks);
        papcoll::threads::run(ranks, all_policies);
    }
}

TEST_CASE("gather with forced rendezvous, random delivery and messages that are cut") {
    for (int const ranks : {2, 3, 5, 8}) {
        CAPTURE(ranks);
        auto const seed = static_cast<std::uint64_t>(ranks);
        papcoll::threads::run(ranks, {.eager_limit = 0, .seed = seed}, all_policies);
        papcoll::threads::run(ranks, {.eager_limit = 0, .seed = seed, .max_message_bytes = 100},
                              all_policies);
    }
}

TEST_CASE("gather to every root, on links where messages are cut and on others") {
    for (int const ranks : test_support::sanitized ? std::vector{1, 2, 5} : std::vector{1, 2, 3, 4, 6, 9, 13})
        papcoll::threads::run(ranks, [](endpoint& self) {
            gather_suite::every_root(self, self.rank(), self.size(), papcoll::linear{});
            gather_suite::every_root(self, self.rank(), self.size(), papcoll::knomial_tree{});
            gather_suite::on_links(self, self.rank(), self.size(), papcoll::linear{});
            gather_suite::on_links(self, self.rank(), self.size(), papcoll::knomial_tree{});
        });
}

TEST_CASE("gather: forms, mistakes and disagreements") {
    for (int const ranks : test_support::thread_counts)
        papcoll::threads::run(ranks, [](endpoint& self) {
            gather_suite::forms(self, self.rank(), self.size(), papcoll::linear{});
            gather_suite::forms(self, self.rank(), self.size(), papcoll::sorted_linear{});
            gather_suite::forms(self, self.rank(), self.size(), papcoll::knomial_tree{});
            gather_suite::bad_arguments(self, self.rank(), self.size());
            gather_suite::agreed_checks(self, self.rank(), self.size());
            all_policies(self); // agreed, too
        });
}
