// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/transport/threads.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include "../../support/any_order_suite.hpp"

using papcoll::threads::endpoint;

namespace {

template <class F>
void on(int ranks, F f) {
    CAPTURE(ranks);
    papcoll::threads::run(ranks, [&](endpoint& self) {
        papcoll::attach(self, {.link = papcoll::link_model{papcoll::ticks(1'000), 0.1}});
        f(self, self.rank(), self.size());
    });
}
/// Waits for it, but not for ever: then what is tested has failed.
auto comes(std::atomic<int> const& count, int wanted) -> bool {
    auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (count < wanted && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    return count >= wanted;
}

} // namespace

TEST_CASE("operands that are combined as they come") {
    for (int const ranks : {1, 2, 3, 5}) on(ranks, any_order_suite::promises<endpoint>);
}

TEST_CASE("what has come is combined while a rank is missing") {
    for (std::size_t const n : {100u, 20'000u}) // at once, and in chunks
        for (int const late : {0, 1, 2, 4}) {
            std::atomic<int> combined = 0;
            on(5, [&](endpoint& self, int rank, int) {
                auto const op = papcoll::in_any_order([&](int a, int b) {
                    ++combined;
                    return a + b;
                });
                std::vector<int> const in(n, rank);
                std::vector<int> out(n);
                // The root has all but one of the operands.
                if (rank == late) CHECK(comes(combined, 3 * static_cast<int>(n)));
                if (rank == 3)
                    papcoll::reduce(self, in.data(), n, out.data(), op, 3);
                else
                    papcoll::reduce(self, in.data(), n, op, 3);
                if (rank == 3) CHECK(std::all_of(out.begin(), out.end(), [](int x) { return x == 10; }));
            });
        }
}

TEST_CASE("in shares, too") {
    constexpr std::size_t n = 3'000;
    for (int const late : {0, 3}) {
        std::atomic<int> combined = 0;
        on(4, [&](endpoint& self, int rank, int) {
            auto const op = papcoll::in_any_order([&](int a, int b) {
                ++combined;
                return a + b;
            });
            std::vector<int> const in(n, rank);
            std::vector<int> out(n);
            // Each of three ranks has three of the four operands of its share.
            if (rank == late) CHECK(comes(combined, 3 * 2 * static_cast<int>(n / 4)));
            papcoll::all_reduce(self, in.data(), n, out.data(), op);
            CHECK(std::all_of(out.begin(), out.end(), [](int x) { return x == 6; }));
        });
    }
}

TEST_CASE("of what need not be said that it may come in any order, and of what must") {
    using papcoll::combines_in_any_order;
    CHECK(combines_in_any_order<std::plus<>, int>::value);
    CHECK(combines_in_any_order<std::bit_xor<>, unsigned>::value);
    CHECK(!combines_in_any_order<std::plus<>, double>::value);
    CHECK(!combines_in_any_order<std::minus<>, int>::value);
    using sum = decltype(papcoll::in_any_order(std::plus<>()));
    CHECK(combines_in_any_order<sum, double>::value);
    CHECK(papcoll::is_commutative<sum, double>::value);
    CHECK(!papcoll::is_exactly_associative<sum, double>::value);
    CHECK(papcoll::is_exactly_associative<sum, int>::value);
}
