// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/transport/threads.hpp>

#include <stdexcept>

#include "../../support/arrival_all_reduce_suite.hpp"
#include "../../support/sanitized.hpp"

namespace suite = arrival_all_reduce_suite;
using papcoll::ticks;
using papcoll::threads::endpoint;

namespace {

/// Addition that fails for one operand.
struct fussy {
    auto operator()(int a, int b) const -> int {
        if (a == 13 || b == 13) throw std::runtime_error("thirteen");
        return a + b;
    }
};

} // namespace

TEST_CASE("any prediction") {
    for (int const ranks : test_support::thread_counts) {
        CAPTURE(ranks);
        auto const seed = static_cast<unsigned>(ranks);
        papcoll::threads::run(ranks, [&](endpoint& self) {
            suite::any_prediction(self, self.rank(), self.size(), seed);
            suite::same_bits(self, self.rank(), self.size(), seed + 50);
        });
    }
}

TEST_CASE("the same with forced rendezvous, random delivery and messages that are cut") {
    for (int const ranks : {2, 3, 5, 8}) {
        if (test_support::sanitized && ranks > 3) continue;
        CAPTURE(ranks);
        auto const seed = static_cast<unsigned>(ranks);
        papcoll::threads::run(ranks, {.eager_limit = 0, .seed = seed}, [&](endpoint& self) {
            suite::any_prediction(self, self.rank(), self.size(), seed + 100);
        });
        papcoll::threads::run(
            ranks, {.eager_limit = 16, .seed = seed + 1, .max_message_bytes = 100},
            [&](endpoint& self) { suite::any_prediction(self, self.rank(), self.size(), seed + 200); });
    }
}

TEST_CASE("what all_reduce promises, under wrong predictions") {
    for (int const ranks : {1, 2, 3, 7}) {
        CAPTURE(ranks);
        papcoll::threads::run(ranks, {.eager_limit = 0, .seed = 4}, [](endpoint& self) {
            suite::promises<double>(self, self.rank(), self.size(), 7);
        });
        papcoll::threads::run(ranks, [](endpoint& self) { suite::mistakes(self, self.rank(), self.size()); });
    }
}

TEST_CASE("an operator that throws: rethrown there, missed elsewhere, and the next call works") {
    papcoll::threads::run(5, [](endpoint& self) {
        papcoll::attach(self, papcoll::attach_options{.link = all_reduce_suite::slow_to_move});
        std::vector<ticks> arrivals(5);
        arrivals[3] = std::chrono::seconds(1);
        papcoll::arrival_all_reduce const policy{.arrivals = arrivals, .block_bytes = 40};
        std::vector<int> in(100, 1), out(100);
        if (self.rank() == 3) in[55] = 13; // combined where its block is completed
        auto const add = papcoll::commutative(fussy{});
        int threw = 0;
        try {
            papcoll::all_reduce(self, in, out, add, policy);
        } catch (papcoll::missing_value_error const&) {
            threw = 10;
        } catch (std::runtime_error const&) {
            threw = 1;
        }
        CHECK(papcoll::all_reduce(self, threw, std::plus<>(), papcoll::circulant{}) == 41);
        in.assign(100, 2);
        papcoll::all_reduce(self, in, out, add, policy);
        CHECK(out == std::vector<int>(100, 10));
    });
}
