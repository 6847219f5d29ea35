// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/transport/threads.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <limits>
#include <stdexcept>

#include "../../support/transport_suite.hpp"

using papcoll::threads::endpoint;
using papcoll::threads::options;

TEST_CASE("threads pass the transport suite in every mode") {
    for (int const ranks : {1, 2, 3, 5, 8})
        for (auto const& o : {options{}, options{.eager_limit = 0}, options{.eager_limit = 0, .seed = 3},
                              options{.eager_limit = std::numeric_limits<std::size_t>::max(), .seed = 4}}) {
            CAPTURE(ranks);
            CAPTURE(o.seed);
            papcoll::threads::run(ranks, o, [](endpoint& self) { transport_suite::run(self); });
        }
}

TEST_CASE("a rendezvous send is not complete before its receive is posted") {
    papcoll::threads::run(2, options{.eager_limit = 0}, [](endpoint& self) {
        std::byte data{42};
        std::vector<endpoint::pending> pendings;
        std::vector<papcoll::completion> done;
        if (self.rank() == 0) {
            pendings.push_back(self.isend(papcoll::channel::data, std::span(&data, 1), 1, 0));
            self.test_some(pendings, done);
            CHECK(done.empty());
            pendings.push_back(self.isend(papcoll::channel::control, {}, 1, 0)); // empty: eager
        } else {
            std::vector<endpoint::pending> go{self.irecv(papcoll::channel::control, {}, 0, 0)};
            transport_suite::wait_all(self, go, true);
            pendings.push_back(self.irecv(papcoll::channel::data, std::span(&data, 1), 0, 0));
        }
        transport_suite::wait_all(self, pendings, true);
        CHECK(data == std::byte{42});
    });
}

TEST_CASE("the adversary delivers out of order, and the seed repeats it") {
    auto const order = [](std::uint64_t seed) {
        std::vector<int> result;
        papcoll::threads::run(1, options{.eager_limit = 0, .seed = seed}, [&](endpoint& self) {
            std::vector<std::byte> in(20), out(20);
            std::vector<endpoint::pending> pendings;
            for (std::size_t i = 0; i < in.size(); ++i)
                pendings.push_back(
                    self.irecv(papcoll::channel::data, std::span(in).subspan(i, 1), 0, static_cast<int>(i)));
            std::vector<endpoint::pending> sends;
            for (std::size_t i = 0; i < in.size(); ++i)
                sends.push_back(
                    self.isend(papcoll::channel::data, std::span(out).subspan(i, 1), 0, static_cast<int>(i)));
            std::vector<papcoll::completion> done;
            while (done.size() < in.size()) self.wait_some(pendings, done);
            for (auto const& ended : done) result.push_back(ended.position);
        });
        return result;
    };
    CHECK(order(1) == order(1));
    CHECK(order(1) != order(2));
    CHECK_FALSE(std::is_sorted(order(1).begin(), order(1).end()));
}

TEST_CASE("a rank that fails ends the others' waits, and its exception comes out") {
    std::atomic<int> ended = 0;
    auto const attempt = [&] {
        papcoll::threads::run(3, [&](endpoint& self) {
            if (self.rank() == 1) throw std::domain_error("rank 1");
            std::byte data{};
            std::vector<endpoint::pending> pendings{
                self.irecv(papcoll::channel::data, std::span(&data, 1), 1, 0)};
            std::vector<papcoll::completion> done;
            try {
                self.wait_some(pendings, done);
            } catch (papcoll::threads::aborted const&) {
                ++ended;
                throw;
            }
        });
    };
    CHECK_THROWS_AS(attempt(), std::domain_error);
    CHECK(ended == 2);
}

TEST_CASE("no ranks are refused") {
    CHECK_THROWS_AS(papcoll::threads::run(0, [](endpoint&) {}), std::invalid_argument);
}
