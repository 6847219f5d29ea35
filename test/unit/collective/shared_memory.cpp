// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// alone
#include <papcoll/transport/threads.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "../../support/sanitized.hpp"
#include "../../support/shared_memory_suite.hpp"

using papcoll::threads::endpoint;

namespace {

template <class F>
void run(std::initializer_list<int> all_ranks, std::optional<std::size_t> memory, F f,
         std::uint64_t seed = 0) {
    for (int const ranks : all_ranks) {
        if (test_support::sanitized && ranks > 5) continue;
        CAPTURE(ranks);
        papcoll::threads::run(ranks, papcoll::threads::options{.seed = seed}, [&](endpoint& self) {
            papcoll::attach(self,
                            {.link = papcoll::link_model{papcoll::ticks(1'000), 0.1}, .node_memory = memory});
            f(self, self.rank(), self.size());
        });
    }
}

} // namespace

TEST_CASE("all collectives through shared memory") {
    run({1, 2, 3, 5, 8}, {}, shared_memory_suite::all<endpoint>);
}

TEST_CASE("in many chunks, where there is little of it") {
    run({2, 3, 5, 7}, shared_memory_suite::little_memory, shared_memory_suite::all<endpoint>);
}

TEST_CASE("several under way at a time through shared memory") {
    run({2, 3, 8}, {}, shared_memory_suite::together<endpoint>);
    run({2, 3, 5}, shared_memory_suite::little_memory, shared_memory_suite::together<endpoint>);
}

TEST_CASE("ranks that sleep now and then while they wait") {
    for (std::uint64_t const seed : {1u, 2u}) {
        run({2, 3, 5}, {}, shared_memory_suite::together<endpoint>, seed);
        run({3, 4}, shared_memory_suite::little_memory, shared_memory_suite::together<endpoint>, seed);
    }
}

TEST_CASE("shared_memory is for those who share memory") {
    run({2}, 0, [](endpoint& self, int, int) {
        int value = 1;
        CHECK_THROWS_AS(papcoll::broadcast(self, value, 0, papcoll::shared_memory{}), std::invalid_argument);
    });
}
