// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/transport/threads.hpp>

#include <algorithm>

#include "../../support/all_gatherv_suite.hpp"
#include "../../support/own_schedulers.hpp"
#include "../../support/random_reduction.hpp"
#include "../../support/sanitized.hpp"

using papcoll::threads::endpoint;
using papcoll::threads::options;

namespace {

void all_policies(endpoint& self) {
    auto const promises = [&](auto const& policy) {
        all_gatherv_suite::promises(self, self.rank(), self.size(), policy);
    };
    promises(papcoll::circulant{});
    promises(papcoll::circulant{.block_bytes = 56});
    promises(own_schedulers::round_the_ring{});
    using detours = papcoll::reversed_scheduler<random_reduction>;
    promises(papcoll::scheduled<detours>{.algorithm = {{5}}, .segments = 4});
}

} // namespace

TEST_CASE("all_gatherv on threads") {
    for (int const ranks : test_support::thread_counts) {
        CAPTURE(ranks);
        papcoll::threads::run(ranks, all_policies);
    }
}

TEST_CASE("all_gatherv with forced rendezvous, random delivery and messages that are cut") {
    for (int const ranks : {2, 3, 5, 8}) {
        CAPTURE(ranks);
        auto const seed = static_cast<std::uint64_t>(ranks);
        papcoll::threads::run(ranks, {.eager_limit = 0, .seed = seed}, all_policies);
        papcoll::threads::run(ranks, {.eager_limit = 0, .seed = seed, .max_message_bytes = 100},
                              all_policies);
    }
}

TEST_CASE("all_gatherv: forms, mistakes and disagreements on threads") {
    for (int const ranks : {1, 2, 5})
        papcoll::threads::run(ranks, [](endpoint& self) {
            int const rank = self.rank();
            int const p = self.size();
            all_gatherv_suite::forms(self, rank, p, papcoll::circulant{});
            all_gatherv_suite::forms(self, rank, p, own_schedulers::round_the_ring{});
            all_gatherv_suite::bad_arguments(self, rank, p);
            all_gatherv_suite::agreed_checks(self, rank, p);
            all_gatherv_suite::promises(self, rank, p, papcoll::circulant{}); // agreed, too
        });
}

TEST_CASE("all_gatherv of long parts among short ones") {
    for (int const ranks : {2, 3, 5, 8, 13}) {
        CAPTURE(ranks);
        for (auto const& o : {options{}, options{.eager_limit = 0, .seed = 3}})
            papcoll::threads::run(ranks, o, [](endpoint& self) {
                auto const promises = [&](auto const& policy) {
                    all_gatherv_suite::long_parts(self, self.rank(), self.size(), policy);
                };
                promises(papcoll::circulant{});
                promises(papcoll::two_level{.ranks_per_node = 2});
                promises(papcoll::ring{});
                promises(papcoll::linear{});
                promises(papcoll::background_circulant{});
            });
    }
}

TEST_CASE("parts so long that their messages are cut when they are executed") {
    papcoll::threads::run(3, [](endpoint& self) {
        papcoll::attach(self, papcoll::attach_options{.link = papcoll::link_model{papcoll::ticks(1), 100.0}});
        std::vector<std::size_t> const sizes{1, 60'000'001, 45'000'000};
        std::vector<char> const mine(sizes[static_cast<std::size_t>(self.rank())],
                                     static_cast<char>(self.rank()));
        auto const promises = [&](auto const& policy) {
            papcoll::call_shape shape{.operation = papcoll::collective_kind::all_gather, .ranks = 3};
            shape.count = 105'000'002;
            shape.sizes = sizes;
            CHECK(policy.plan(shape, papcoll::context_of(self)->link()).uncut);
            std::vector<char> out(105'000'002, 9);
            papcoll::all_gatherv(self, mine.data(), out.data(), sizes, policy);
            auto const second = out.begin() + 1;
            auto const third = second + 60'000'001;
            CHECK(out.front() == 0);
            CHECK(std::all_of(second, third, [](char c) { return c == 1; }));
            CHECK(std::all_of(third, out.end(), [](char c) { return c == 2; }));
        };
        promises(papcoll::ring{});
        promises(papcoll::neighbor_exchange{});
    });
}
