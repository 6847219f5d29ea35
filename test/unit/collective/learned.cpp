// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// Calls that learn which candidate of their policy is the fastest.
#include <papcoll/collective/all_gather.hpp>
#include <papcoll/collective/all_reduce.hpp>
#include <papcoll/collective/broadcast.hpp>
#include <papcoll/collective/learned.hpp>
#include <papcoll/collective/learned_calls.hpp>
#include <papcoll/collective/reduce.hpp>
#include <papcoll/policy/automatic.hpp>
#include <papcoll/policy/circulant.hpp>
#include <papcoll/transport/threads.hpp>

#include <doctest/doctest.h>

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
/// Candidate c takes times[r][c] in round r.
using table_of_times = std::vector<std::vector<int>>;

/// Makes trials until there is something to decide, and decides; which candidates were tried.
auto try_and_decide(learned_shape& known, table_of_times const& times) -> std::vector<std::size_t> {
    std::vector<std::size_t> tried;
    while (!known.was_tried_enough()) {
        tried.push_back(known.next());
        known.end_trial(known.begin_trial(ticks(0)), ticks(1));
    }
    known.decide([&](std::size_t trial) {
        return std::int64_t{times[trial % learned_shape::rounds][trial / learned_shape::rounds]};
    });
    return tried;
}
auto decided(std::vector<std::string> const& names, table_of_times const& times) -> std::string {
    learned_shape known(choices(names));
    while (!known.decided()) try_and_decide(known, times);
    return known.choice().policy;
}
using order = std::vector<std::size_t>;

} // namespace

TEST_CASE("candidates come in turn, and the median without the first round decides") {
    learned_shape known(choices({"a", "b", "c"}));
    CHECK_FALSE(known.decided());
    table_of_times const times(learned_shape::rounds, {9, 8, 9});
    CHECK(try_and_decide(known, times) == order{0, 1, 2, 0, 1, 2});
    CHECK_FALSE(known.decided());
    CHECK(try_and_decide(known, times) == order{0, 1, 2, 0, 1, 2, 0, 1, 2});
    CHECK(known.decided());
    CHECK(known.winner() == 1);

    CHECK(decided({"a", "b"}, {{1, 900}, {100, 50}, {100, 50}, {100, 50}, {100, 900}}) == "b");
    CHECK(decided({"a", "b"}, {{1, 1}, {100, 96}, {100, 96}, {100, 96}, {100, 96}}) == "a"); // hardly faster
    CHECK(decided({"a", "b", "c"}, {{1, 1, 1}, {9, 8, 7}, {9, 7, 8}, {9, 8, 6}, {9, 8, 6}}) == "c");
}

TEST_CASE("each trial has times of its own") {
    learned_shape known(choices({"a", "b"}));
    for (std::size_t const expected : {0U, 5U, 1U, 6U}) {
        auto const now = ticks(static_cast<std::int64_t>(100 * expected));
        auto const trial = known.begin_trial(now);
        CHECK(trial == expected);
        known.end_trial(trial, now + ticks(7));
        CHECK(known.own_times()[2 * trial] == now.count());
        CHECK(known.own_times()[2 * trial + 1] == now.count() + 7);
    }
}

TEST_CASE("what takes much longer than the best is left out after the first rounds, but for the model's") {
    learned_shape known(choices({"a", "b", "c"}));
    table_of_times const slow_c{{1, 1, 1}, {10, 14, 16}, {10, 9, 1}, {10, 9, 1}, {10, 9, 1}};
    try_and_decide(known, slow_c);
    CHECK(try_and_decide(known, slow_c) == order{0, 1, 0, 1, 0, 1});
    CHECK(known.winner() == 1);

    learned_shape alone(choices({"a", "b"}));
    CHECK(try_and_decide(alone, {{1, 1}, {10, 16}}) == order{0, 1, 0, 1});
    CHECK(alone.decided());
    CHECK(alone.winner() == 0);

    CHECK(decided({"a", "b"}, table_of_times(5, {30, 10})) == "b");
    CHECK(decided({"a", "b"}, {{1, 1}, {30, 10}, {10, 30}, {10, 30}, {10, 30}}) == "a");
}

TEST_CASE("times that differ more among themselves than between candidates decide nothing") {
    CHECK(decided({"a", "b"}, {{1, 1}, {100, 90}, {60, 90}, {140, 70}, {100, 100}}) == "a");
    CHECK(decided({"a", "b"}, {{1, 1}, {100, 50}, {60, 50}, {140, 50}, {100, 900}}) == "b");
}

TEST_CASE("one candidate is nothing to learn, and no more than four are tried") {
    CHECK(learned_shape(choices({"a"})).decided());
    learned_shape many(choices({"a", "b", "c", "d", "e"}));
    table_of_times const equal(learned_shape::rounds, {1, 1, 1, 1});
    CHECK(try_and_decide(many, equal) == order{0, 1, 2, 3, 0, 1, 2, 3});
    many.begin_trial(ticks(0));
    many.take_back();
    CHECK(try_and_decide(many, equal) == order{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3});
    CHECK(many.decided());
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
