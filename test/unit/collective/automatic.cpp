// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/transport/threads.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <stdexcept>

#include "../../support/mixed_suite.hpp"

using papcoll::automatic;
using papcoll::collective_kind;
using papcoll::threads::endpoint;
using namespace std::chrono_literals;

namespace {

auto all_as(std::string const& policy) -> automatic {
    std::vector<papcoll::tuning_table::entry> entries;
    for (auto const operation :
         {collective_kind::broadcast, collective_kind::reduce, collective_kind::all_reduce,
          collective_kind::all_gather, collective_kind::reduce_scatter})
        entries.push_back({operation, 4, 1000, {policy, {}}});
    return {.table = std::make_shared<papcoll::tuning_table const>(std::move(entries))};
}
auto last_is_late(int ranks) -> automatic {
    std::vector<papcoll::ticks> times(static_cast<std::size_t>(ranks));
    times.back() = 20ms;
    return {.arrivals = times};
}

} // namespace

TEST_CASE("automatic on threads: by the model, with arrivals, by a table") {
    for (int const ranks : {1, 2, 5, 8}) {
        CAPTURE(ranks);
        papcoll::threads::run(ranks, [](endpoint& self) {
            int const p = self.size();
            for (std::size_t const n : {0u, 100u, 3000u}) {
                mixed_suite::in_flight(self, self.rank(), p, n, automatic{});
                mixed_suite::one_by_one(self, self.rank(), p, n, last_is_late(p));
                mixed_suite::one_by_one(self, self.rank(), p, n, all_as("circulant"));
            }
        });
    }
}

TEST_CASE("no policy means automatic") {
    papcoll::threads::run(3, [](endpoint& self) {
        int const one = self.rank() + 1;
        int sum = 0;
        papcoll::reduce(self, one, sum, std::plus<>(), 2);
        CHECK(sum == (self.rank() == 2 ? 6 : 0));
        CHECK(papcoll::all_reduce(self, one, std::plus<>()) == 6);
        papcoll::broadcast(self, sum, 2);
        CHECK(sum == 6);
        std::vector<int> all;
        papcoll::all_gather(self, one, all);
        CHECK(all == std::vector{1, 2, 3});
        papcoll::igather(self, one, all, 0).wait();
        auto plan = papcoll::plan_broadcast<int>(self, 3, 1);
        plan.run(all.data());
        auto open = papcoll::open_all_gather(self, all, 1);
        open.contribute(&one);
        open.wait();
        CHECK(all == std::vector{1, 2, 3});
    });
}

TEST_CASE("an unknown policy of a table is refused by all ranks, which then go on") {
    papcoll::threads::run(3, [](endpoint& self) {
        int const one = 1;
        int sum = 0;
        collective_suite::says("reduce knows native, circulant",
                               [&] { papcoll::reduce(self, one, sum, std::plus<>(), 0, all_as("fastest")); });
        papcoll::reduce(self, one, sum, std::plus<>(), 0);
        CHECK(sum == (self.rank() == 0 ? 3 : 0));
    });
}

TEST_CASE("an observer is told of every operation, in numbers that agree on all ranks") {
    std::mutex mutex;
    std::vector<std::vector<std::string>> seen(3);
    papcoll::threads::run(3, [&](endpoint& self) {
        auto& mine = seen[static_cast<std::size_t>(self.rank())];
        papcoll::observe(self, [&](papcoll::collective_record const& r) {
            std::lock_guard const lock(mutex);
            mine.push_back(std::to_string(r.sequence) + ' ' + std::string(r.operation) + ' ' +
                           std::to_string(r.bytes));
            CHECK(r.entry.count() > 0);
            CHECK(r.entry <= r.exit);
        });
        std::vector<int> in(30, 1), out(30);
        papcoll::reduce(self, in.data(), 30, out.data(), std::plus<>(), 0, papcoll::circulant{});
        auto plan = papcoll::plan_broadcast<int>(self, 30, 1);
        plan.run(in.data());
        papcoll::all_gather(self, in.data(), 10, out.data());
        papcoll::iall_to_all(self, in.data(), 10, out.data()).wait();
        for (int i = 0; i < 3; ++i) papcoll::all_gather(self, in.data(), 10, out.data()); // is known
        auto request = papcoll::ibroadcast(self, in.data(), 1, 2);
        papcoll::all_gather(self, in.data() + 10, 10, out.data()); // while another is under way
        request.wait();
        papcoll::observe(self, {});
        papcoll::broadcast(self, in.data(), 30, 0);
    });
    std::vector<std::string> expected{"0 reduce 120",    "2 broadcast 120", "3 all_gather 40",
                                      "4 all_to_all 40", "5 all_gather 40", "6 all_gather 40",
                                      "7 all_gather 40", "8 broadcast 4",   "9 all_gather 40"};
    for (auto& mine : seen) {
        if (mine.size() == expected.size())
            std::sort(mine.end() - 2, mine.end()); // in the order of their ends
        CHECK(mine == expected);
    }
}

TEST_CASE("an observer is told of calls that throw, which have numbers too, and where calls come from") {
    papcoll::threads::run(3, [](endpoint& self) {
        std::vector<std::uint64_t> seen;
        papcoll::observe(self, [&](papcoll::collective_record const& r) {
            CHECK(r.call_site != nullptr);
            seen.push_back(r.sequence);
        });
        std::vector<int> const in(5, 1);
        std::vector<int> out(5);
        auto const refuse =
            papcoll::commutative([](int, int) -> int { throw std::domain_error("not of papcoll"); });
        auto const sum = [&](auto const& op, int root) {
            papcoll::reduce(self, in.data(), 5, out.data(), op, root, papcoll::circulant{});
        };
        auto const begin = [&](auto const& op, int root) {
            return papcoll::ireduce(self, in.data(), 5, out.data(), op, root, papcoll::circulant{});
        };
        CHECK_THROWS_AS(sum(std::plus<>(), 7), std::invalid_argument);
        CHECK_THROWS_AS((void)begin(std::plus<>(), 7), std::invalid_argument);
        std::uint64_t calls = 2;
        auto const expect_refusal = [&](auto const& call) {
            ++calls;
            try {
                call();
            } catch (std::domain_error const&) {  // where it combines
            } catch (std::runtime_error const&) { // where a value is missing
            }
        };
        for (int i = 0; i < 3; ++i) expect_refusal([&] { sum(refuse, 0); });
        expect_refusal([&] { begin(refuse, 0).wait(); });
        std::vector<std::uint64_t> expected(calls);
        std::iota(expected.begin(), expected.end(), std::uint64_t{0});
        CHECK(seen == expected);
    });
}

TEST_CASE("an observer sees what a late rank costs") {
    papcoll::threads::run(2, [](endpoint& self) {
        papcoll::attach(self);
        papcoll::ticks took{0};
        papcoll::observe(self, [&](papcoll::collective_record const& r) { took = r.exit - r.entry; });
        if (self.rank() == 1) std::this_thread::sleep_for(20ms);
        (void)papcoll::all_reduce(self, 1, std::plus<>());
        if (self.rank() == 0) CHECK(took > 15ms);
    });
}
