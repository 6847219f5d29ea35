// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/collective/impl/run_call.hpp>
#include <papcoll/transport/threads.hpp>

#include <atomic>
#include <vector>

#include "../../support/all_gather_suite.hpp"
#include "../../support/open_suite.hpp"
#include "../../support/open_uneven_suite.hpp"
#include "../../support/sanitized.hpp"
#include "../../support/shared_endpoint.hpp"

using papcoll::threads::endpoint;
using test_support::shared_endpoint;

namespace {

/// Forwards what others need while its user is busy elsewhere: `rank` 0 only watches a number.
void forwards_in_the_background(endpoint& e, std::atomic<int>& others_done) {
    shared_endpoint self(e);
    papcoll::attach(self);
    open_suite::elements const all{self.size(), 4000, 1};
    auto out = all.nothing();
    auto const part = all.part(self.rank());
    auto open = papcoll::open_all_gather(self, out.data(), all.n, papcoll::ring{});
    open.contribute(part.data());
    if (self.rank() == 0) {
        while (others_done < self.size() - 1) std::this_thread::yield();
        open.wait();
    } else {
        open.wait();
        ++others_done;
    }
    CHECK(out == all.whole());
}
/// Receives while its user is busy and has contributed nothing.
void receives_in_the_background(endpoint& e, std::atomic<int>& others_done) {
    shared_endpoint self(e);
    papcoll::attach(self);
    open_suite::elements const all{self.size(), 4000, 1};
    auto out = all.nothing();
    auto const part = all.part(self.rank());
    auto open = papcoll::open_gather(self, out.data(), all.n, 0, papcoll::sorted_linear{});
    if (self.rank() != 0) {
        open.contribute(part.data());
        open.wait();
        ++others_done;
        return;
    }
    while (others_done < self.size() - 1) std::this_thread::yield();
    open.contribute(part.data());
    open.wait();
    CHECK(out == all.whole());
}

void blocking_calls(endpoint& self) {
    auto const promises = [&](auto const& policy) {
        all_gather_suite::promises(self, self.rank(), self.size(), policy);
    };
    promises(papcoll::ring{});
    promises(papcoll::neighbor_exchange{});
    promises(papcoll::linear{});
    for (auto const& arrivals : open_suite::all_arrivals(self.size())) {
        promises(papcoll::background_ring{.arrivals = arrivals});
        promises(papcoll::background_circulant{.arrivals = arrivals});
        promises(papcoll::sorted_linear{.arrivals = arrivals});
    }
}

} // namespace

TEST_CASE("split-phase collectives, told right and wrong arrivals") {
    for (int const ranks : test_support::thread_counts) {
        CAPTURE(ranks);
        papcoll::threads::run(ranks, [](endpoint& self) {
            open_suite::all_policies(self, self.rank(), self.size());
            open_suite::mistakes(self, self.rank(), self.size());
        });
    }
}

TEST_CASE("split-phase collectives with forced rendezvous and random delivery") {
    for (int const ranks : {2, 5})
        papcoll::threads::run(
            ranks, {.eager_limit = 0, .seed = 7, .max_message_bytes = 3000},
            [](endpoint& self) { open_suite::all_policies(self, self.rank(), self.size()); });
}

TEST_CASE("split-phase collectives with a thread that drives them") {
    for (int const ranks : {1, 2, 5})
        papcoll::threads::run(ranks, {.eager_limit = 1000}, [](endpoint& e) {
            shared_endpoint self(e);
            papcoll::attach(self);
            open_suite::all_policies(self, self.rank(), self.size());
            open_suite::mistakes(self, self.rank(), self.size());
        });
}

TEST_CASE("the thread takes part while the program is elsewhere") {
    for (int const ranks : {2, 3, 8}) {
        std::atomic<int> forwarded = 0;
        papcoll::threads::run(ranks, {.eager_limit = 0},
                              [&](endpoint& e) { forwards_in_the_background(e, forwarded); });
        std::atomic<int> received = 0;
        papcoll::threads::run(ranks, {.eager_limit = 0},
                              [&](endpoint& e) { receives_in_the_background(e, received); });
    }
}

TEST_CASE("split-phase collectives with agreed checks") {
    for (int const ranks : {1, 2, 5, 8})
        papcoll::threads::run(ranks, [](endpoint& self) {
            open_suite::agreed_checks(self, self.rank(), self.size());
            open_suite::in_flight(self, self.rank(), self.size(), papcoll::background_circulant{});
        });
}

TEST_CASE("background policies in calls that block") {
    for (int const ranks : test_support::thread_counts) papcoll::threads::run(ranks, blocking_calls);
}
