// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/policy/dissemination.hpp>
#include <papcoll/transport/threads.hpp>

#include "../../support/all_reduce_suite.hpp"
#include "../../support/own_schedulers.hpp"
#include "../../support/random_reduction.hpp"
#include "../../support/sanitized.hpp"

using papcoll::threads::endpoint;
using papcoll::threads::options;

namespace {

void all_policies(endpoint& self) {
    auto const promises = [&](auto const& policy) {
        all_reduce_suite::promises<double>(self, self.rank(), self.size(), policy);
    };
    promises(papcoll::circulant{});
    promises(papcoll::circulant{.block_bytes = 56});
    promises(papcoll::dissemination{.radix = 3});
    all_reduce_suite::promises<int>(self, self.rank(), self.size(), papcoll::circulant{}); // a census, too
    promises(own_schedulers::to_the_owners{});
    using detours = random_reduction;
    promises(papcoll::scheduled<detours>{.algorithm = {5}, .segments = 4});
}

} // namespace

TEST_CASE("all_reduce on threads") {
    for (int const ranks : test_support::thread_counts) {
        CAPTURE(ranks);
        papcoll::threads::run(ranks, all_policies);
    }
}

TEST_CASE("all_reduce with forced rendezvous, random delivery and messages that are cut") {
    for (int const ranks : {2, 3, 5, 8}) {
        CAPTURE(ranks);
        auto const seed = static_cast<std::uint64_t>(ranks);
        papcoll::threads::run(ranks, {.eager_limit = 0, .seed = seed}, all_policies);
        papcoll::threads::run(ranks, {.eager_limit = 0, .seed = seed, .max_message_bytes = 100},
                              all_policies);
    }
}

TEST_CASE("all_reduce: forms, mistakes and disagreements on threads") {
    for (int const ranks : {1, 2, 5})
        papcoll::threads::run(ranks, [](endpoint& self) {
            int const rank = self.rank();
            int const p = self.size();
            all_reduce_suite::forms(self, rank, p, papcoll::circulant{});
            all_reduce_suite::forms(self, rank, p, own_schedulers::to_the_owners{});
            all_reduce_suite::bad_arguments(self, rank, p);
            all_reduce_suite::agreed_checks(self, rank, p);
            all_reduce_suite::promises<double>(self, rank, p, papcoll::circulant{}); // agreed, too
        });
}

TEST_CASE("all_reduce gives all ranks the same bits, at any number of them") {
    for (int ranks = 1; ranks <= 20; ++ranks) {
        CAPTURE(ranks);
        papcoll::threads::run(ranks, [](endpoint& self) {
            auto const same_bits = [&](auto const& policy) {
                all_reduce_suite::same_bits(self, self.rank(), self.size(), policy);
            };
            same_bits(papcoll::circulant{});
            same_bits(papcoll::dissemination{});
            same_bits(papcoll::circulant{.block_bytes = 100});
            same_bits(own_schedulers::to_the_owners{});
        });
    }
}
