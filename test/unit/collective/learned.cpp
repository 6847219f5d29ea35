// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// Calls that learn which candidate of their policy is the fastest.
#include <papcoll/collective/all_gather.hpp>
#include <papcoll/collective/all_reduce.hpp>
#include <papcoll/collective/broadcast.hpp>
#include <papcoll/collective/learned.hpp>
#include <papcoll/collective/learned_calls.hpp>
#include <papcoll/collective/reduce.hpp>
#include <papcoll/transport/threads.hpp>

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using papcoll::automatic_choice;
using papcoll::ticks;
using papcoll::detail::learned_shape;

namespace {

auto choices(std::vector<std::string> const& names) -> std::vector<automatic_choice> {
    std::vector<automatic_choice> result;
    for (auto const& name : names) result.push_back({{name, {}}, "test"});
    return result;
}
/// A shape whose trials take these times: one list for each round.
auto decided(std::vector<std::string> const& names, std::vector<std::vector<int>> const& rounds)
    -> std::string {
    learned_shape known(choices(names));
    while (!known.was_tried_enough()) known.end_trial(known.begin_trial(ticks(0)), ticks(1));
    known.decide(
        [&](std::size_t trial) { return std::int64_t{rounds[trial / names.size()][trial % names.size()]}; });
    CHECK(known.decided());
    return known.choice().policy;
}

} // namespace

TEST_CASE("candidates come in turn, and the median without the first round decides") {
    learned_shape known(choices({"a", "b", "c"}));
    CHECK_FALSE(known.decided());
    for (std::size_t i = 0; i < 3 * learned_shape::rounds; ++i) {
        CHECK_FALSE(known.was_tried_enough());
        CHECK(known.next() == i % 3);
        auto const now = ticks(static_cast<std::int64_t>(100 * i));
        CHECK(known.begin_trial(now) == i);
        known.end_trial(i, now + ticks(7));
    }
    CHECK(known.was_tried_enough());
    CHECK(known.own_times()[5] - known.own_times()[4] == 7);

    CHECK(decided({"a", "b"}, {{1, 900}, {100, 50}, {100, 50}, {100, 50}, {100, 900}}) == "b");
    CHECK(decided({"a", "b"}, {{1, 1}, {100, 96}, {100, 96}, {100, 96}, {100, 96}}) == "a"); // hardly faster
    CHECK(decided({"a", "b", "c"}, {{1, 1, 1}, {9, 8, 7}, {9, 7, 8}, {9, 8, 6}, {9, 8, 6}}) == "c");
}

TEST_CASE("one candidate is nothing to learn, and no more than four are tried") {
    CHECK(learned_shape(choices({"a"})).decided());
    learned_shape many(choices({"a", "b", "c", "d", "e"}));
    for (std::size_t i = 0; i < 20; ++i) {
        CHECK(many.next() == i % 4);
        CHECK(many.begin_trial(ticks(0)) == i);
    }
    CHECK(many.was_tried_enough());
    many.take_back();
    CHECK_FALSE(many.was_tried_enough());
}

TEST_CASE("ranks learn the same, with right results all the while") {
    using namespace std::chrono_literals;
    for (int const p : {1, 2, 3, 5, 8}) {
        CAPTURE(p);
        std::vector<std::string> texts(static_cast<std::size_t>(p));
        papcoll::threads::run(p, [&](papcoll::threads::endpoint& self) {
            papcoll::attach(self, {.link = papcoll::link_model{papcoll::ticks(1000), 0.1}, .learn = true});
            std::mt19937 random(static_cast<unsigned>(self.rank()));
            bool wrong = false;
            for (int i = 0; i < 45; ++i) {
                if (random() % 16 == 0) std::this_thread::sleep_for(200us);
                std::vector<long> const in(40, self.rank() + i);
                std::vector<long> out(40, -1);
                papcoll::all_reduce(self, in.data(), in.size(), out.data(), std::plus<>());
                wrong = wrong || out != std::vector<long>(40, p * i + p * (p - 1) / 2);
                // One that does not block is between them and not counted.
                std::vector<long> again(40, -1);
                auto request = papcoll::iall_reduce(self, in.data(), in.size(), again.data(), std::plus<>());
                long value = self.rank() == p - 1 ? i : -1;
                papcoll::broadcast(self, value, p - 1);
                request.wait();
                wrong = wrong || again != out || value != i;
                auto plan = papcoll::plan_all_reduce<long>(self, 40, std::plus<>());
                plan.run(in.data(), again.data());
                wrong = wrong || again != out;
            }
            texts[static_cast<std::size_t>(self.rank())] =
                papcoll::learned(self).text() + (wrong ? "wrong" : "");
        });
        for (auto const& text : texts) CHECK(text == texts[0]);
        CHECK(texts[0].find("wrong") == std::string::npos);
        auto const table = papcoll::tuning_table::parse(texts[0]);
        CHECK(table.entries().size() == (p == 1 ? 0 : 2)); // all_reduce and broadcast
        for (auto const& e : table.entries()) CHECK(e.ranks == p);
    }
}

TEST_CASE("named policies, known arrivals and communicators that do not learn learn nothing") {
    papcoll::threads::run(3, [&](papcoll::threads::endpoint& self) {
        papcoll::attach(self, {.link = papcoll::link_model{papcoll::ticks(1000), 0.1}, .learn = true});
        int const in = 1;
        int out = 0;
        for (int i = 0; i < 30; ++i) {
            papcoll::all_reduce(self, &in, 1, &out, std::plus<>(), papcoll::circulant{});
            papcoll::all_reduce(self, &in, 1, &out, std::plus<>(),
                                papcoll::automatic{.arrivals = std::vector<ticks>(3)});
        }
        CHECK(papcoll::learned(self).entries().empty());
        papcoll::attach(self, {.link = papcoll::link_model{papcoll::ticks(1000), 0.1}});
        for (int i = 0; i < 30; ++i) papcoll::all_reduce(self, &in, 1, &out, std::plus<>());
        CHECK(papcoll::learned(self).entries().empty());
    });
}

TEST_CASE("arrivals that change leave room for others to learn") {
    papcoll::threads::run(2, [&](papcoll::threads::endpoint& self) {
        papcoll::attach(self, {.link = papcoll::link_model{papcoll::ticks(1000), 0.1}, .learn = true});
        int value = 0;
        for (int i = 1; i <= 1100; ++i)
            papcoll::broadcast(self, value, 0, papcoll::automatic{.arrivals = {ticks(0), ticks(i)}});
        for (int i = 0; i < 30; ++i) papcoll::broadcast(self, value, 0);
        CHECK(papcoll::learned(self).entries().size() == 1);
    });
}

TEST_CASE("an operator that throws on one rank is a trial on all") {
    papcoll::threads::run(3, [&](papcoll::threads::endpoint& self) {
        papcoll::attach(self, {.checks = papcoll::check_level::agreed,
                               .link = papcoll::link_model{papcoll::ticks(1000), 0.1},
                               .learn = true});
        int const in = 1;
        for (int i = 0; i < 40; ++i) {
            int out = 0;
            auto const add = [&](int a, int b) {
                if (i == 3 && self.rank() == 0) throw std::invalid_argument("an operator's own");
                return a + b;
            };
            try {
                papcoll::reduce(self, &in, 1, &out, papcoll::commutative(add), 0);
                if (self.rank() == 0) CHECK(out == 3);
            } catch (std::exception const&) {
                CHECK(i == 3);
            }
        }
        CHECK(papcoll::learned(self).entries().size() == 1);
    });
}

TEST_CASE("with agreed checks a call that all ranks refuse is no trial") {
    papcoll::threads::run(3, [&](papcoll::threads::endpoint& self) {
        papcoll::attach(self, {.checks = papcoll::check_level::agreed,
                               .link = papcoll::link_model{papcoll::ticks(1000), 0.1},
                               .learn = true});
        int const in = 1;
        for (int i = 0; i < 40; ++i) {
            int out = 0;
            bool const bad = self.rank() == 1 && i % 3 == 1;
            auto const reduce = [&] {
                papcoll::all_reduce(self, bad ? nullptr : &in, 1, &out, std::plus<>());
            };
            if (i % 3 == 1)
                CHECK_THROWS_AS(reduce(), std::invalid_argument);
            else
                reduce();
            if (i % 3 != 1) CHECK(out == 3);
        }
        CHECK(papcoll::learned(self).entries().size() == 1);
    });
}
