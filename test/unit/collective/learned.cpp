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
#include <papcoll/policy/tuning_table.hpp>
#include <papcoll/transport/threads.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
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
/// Candidate c's i-th trial takes times[c][i].
using table_of_times = std::vector<std::vector<int>>;
using order = std::vector<std::size_t>;

/// Makes trials until there is something to decide, and decides; which candidates were tried.
auto try_and_decide(learned_shape& known, table_of_times const& times) -> order {
    order tried;
    while (!known.was_tried_enough()) {
        tried.push_back(known.next());
        known.end_trial(known.begin_trial(ticks(0)), ticks(1));
    }
    known.decide([&](std::size_t trial) {
        return std::int64_t{
            times.at(trial / learned_shape::most_trials).at(trial % learned_shape::most_trials)};
    });
    return tried;
}
auto decided(std::vector<std::string> const& names, table_of_times const& times) -> std::string {
    learned_shape known(choices(names));
    while (!known.decided()) try_and_decide(known, times);
    return known.choice().policy;
}
auto always(int time) -> std::vector<int> { return std::vector<int>(learned_shape::most_trials, time); }

/// What a shape loses in its first `calls` calls, in those of the best candidate, where a call by candidate c
/// takes `mean[c]`, more or less by a tenth, and one in eight three times as long; and what is chosen.
struct lesson {
    double regret;
    std::size_t winner;
};
auto learn(std::vector<int> const& mean, int calls, unsigned seed) -> lesson {
    std::mt19937 random(seed);
    auto const draw = [&](std::size_t c) {
        int const time = mean[c] * static_cast<int>(900 + random() % 201) / 1000;
        return std::int64_t{random() % 8 == 0 ? 3 * time : time};
    };
    learned_shape known(choices(std::vector<std::string>(mean.size(), "any")));
    std::vector<std::int64_t> took(learned_shape::most_trials * learned_shape::most_candidates);
    double extra = 0;
    int const best = *std::min_element(mean.begin(), mean.end());
    for (int i = 0; i < calls; ++i) {
        if (!known.decided() && known.was_tried_enough())
            known.decide([&](std::size_t trial) { return took[trial]; });
        auto const c = known.decided() ? known.winner() : known.next();
        extra += mean[c] - best;
        if (!known.decided()) took[known.begin_trial(ticks(0))] = draw(c);
    }
    return {extra / best, known.winner()};
}

} // namespace

TEST_CASE("the model's choice makes the first calls, then others are tried, and what is faster stays") {
    learned_shape known(choices({"a", "b", "c"}));
    CHECK_FALSE(known.decided());
    table_of_times const times{always(9), always(8), always(9)};
    CHECK(try_and_decide(known, times) == order{0, 0, 0, 0, 1, 2, 1, 2});
    CHECK_FALSE(known.decided());
    CHECK(try_and_decide(known, times) == order{0, 1, 2, 0, 1, 2, 0, 1, 2});
    CHECK(known.decided());
    CHECK(known.winner() == 1);

    CHECK(decided({"a", "b"}, {always(100), always(96)}) == "a"); // hardly faster
    CHECK(decided({"a", "b", "c"}, {always(9), {9, 7, 8, 8, 8}, {9, 8, 6, 6, 6}}) == "c");
    // What takes long once does not count, nor does the first trial, which plans.
    CHECK(decided({"a", "b"}, {always(100), {900, 50, 50, 900, 50}}) == "b");
    CHECK(decided({"a", "b"}, {{900, 50, 900, 50, 900, 50, 50}, always(60)}) == "a");
    CHECK(decided({"a", "b"}, {always(100), {10, 96, 96, 96, 90}}) == "a");
}

TEST_CASE("each trial has times of its own") {
    learned_shape known(choices({"a", "b"}));
    for (std::size_t const expected : {0U, 1U, 2U, 3U, 7U, 8U}) {
        auto const now = ticks(static_cast<std::int64_t>(100 * expected));
        auto const trial = known.begin_trial(now);
        CHECK(trial == expected);
        known.end_trial(trial, now + ticks(7));
        CHECK(known.own_times()[2 * trial] == now.count());
        CHECK(known.own_times()[2 * trial + 1] == now.count() + 7);
    }
}

TEST_CASE("what takes longer than the model's choice is left out after two trials") {
    learned_shape known(choices({"a", "b", "c"}));
    table_of_times const slow_c{always(100), {900, 110, 80, 80, 80}, {1000, 126, 1, 1, 1}};
    try_and_decide(known, slow_c);
    CHECK(try_and_decide(known, slow_c) == order{0, 1, 0, 1, 0, 1});
    CHECK(known.winner() == 1);

    learned_shape alone(choices({"a", "b"}));
    CHECK(try_and_decide(alone, {{900, 10, 16, 20}, {900, 13}}) == order{0, 0, 0, 0, 1, 1});
    CHECK(alone.decided());
    CHECK(alone.winner() == 0);
}

TEST_CASE("a shape that occurs few times tries nothing, and what is slow costs two calls") {
    int found = 0, changed = 0;
    for (unsigned seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        CHECK(learn({100, 300, 500}, 4, seed).regret == 0);
        auto const slow = learn({100, 300, 400}, 1000, seed);
        CHECK(slow.winner == 0);
        CHECK(slow.regret <= 2 * (2.0 + 3.0) + 3 * (2.0 + 3.0));
        found += learn({150, 100, 160}, 50, seed).winner == 1 ? 1 : 0;
        changed += learn({100, 105}, 50, seed).winner == 1 ? 1 : 0;
    }
    CHECK(found >= 90);
    CHECK(changed <= 20);
}

TEST_CASE("one candidate is nothing to learn, and no more than four are tried") {
    CHECK(learned_shape(choices({"a"})).decided());
    learned_shape many(choices({"a", "b", "c", "d", "e"}));
    table_of_times const equal(5, always(1));
    CHECK(try_and_decide(many, equal) == order{0, 0, 0, 0, 1, 2, 3, 1, 2, 3});
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
            papcoll::attach(
                self,
                {.link = papcoll::link_model{papcoll::ticks(1000), 0.1}, .node_memory = 0, .learn = true});
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
        // Of the all_reduce there is but one candidate where all that may be tried are butterflies; of the
        // broadcast more than one where each is one message.
        CHECK(table.entries().size() == (p == 1 || p == 8 ? 0 : 1));
        for (auto const& e : table.entries()) CHECK(e.ranks == p);
    }
}

TEST_CASE("named policies, known arrivals and communicators that do not learn learn nothing") {
    papcoll::threads::run(3, [&](papcoll::threads::endpoint& self) {
        papcoll::attach(
            self, {.link = papcoll::link_model{papcoll::ticks(1000), 0.1}, .node_memory = 0, .learn = true});
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
        papcoll::attach(self, {.learn = true}); // by the memory that the ranks share, which nothing beats
        for (int i = 0; i < 30; ++i) papcoll::all_reduce(self, &in, 1, &out, std::plus<>());
        CHECK(papcoll::learned(self).entries().empty());
    });
}

TEST_CASE("arrivals that change leave room for others to learn") {
    papcoll::threads::run(2, [&](papcoll::threads::endpoint& self) {
        papcoll::attach(
            self, {.link = papcoll::link_model{papcoll::ticks(1000), 0.1}, .node_memory = 0, .learn = true});
        int value = 0;
        for (int i = 1; i <= 1100; ++i)
            papcoll::broadcast(self, value, 0, papcoll::automatic{.arrivals = {ticks(0), ticks(i)}});
        for (int i = 0; i < 30; ++i) papcoll::broadcast(self, value, 0);
        CHECK(papcoll::learned(self).entries().size() == 1);
    });
}

TEST_CASE("an operator that throws on one rank is a trial on all") {
    papcoll::threads::run(2, [&](papcoll::threads::endpoint& self) {
        papcoll::attach(self, {.checks = papcoll::check_level::agreed,
                               .link = papcoll::link_model{papcoll::ticks(1000), 0.1},
                               .node_memory = 0,
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
                if (self.rank() == 0) CHECK(out == 2);
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
                               .node_memory = 0,
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

TEST_CASE("tables that are made anew, and policies of other types, learn with those that are equal") {
    struct elsewhere : papcoll::automatic {}; // as of a file that is compiled for other processors
    for (int const how : {0, 1}) {
        CAPTURE(how);
        papcoll::threads::run(3, [&](papcoll::threads::endpoint& self) {
            papcoll::attach(self,
                            {.link = papcoll::link_model{ticks(1000), 0.1}, .node_memory = 0, .learn = true});
            auto const empty = [] { return std::make_shared<papcoll::tuning_table const>(); };
            auto const kept = empty();
            std::vector<long> const in(40, self.rank() + 1);
            std::vector<long> out(40);
            for (int i = 0; i < 30; ++i) {
                bool const other = self.rank() == 0 && i % 2 == 1;
                if (how == 0)
                    papcoll::all_reduce(self, in.data(), 40, out.data(), std::plus<>(),
                                        papcoll::automatic{.table = other ? empty() : kept});
                else if (other)
                    papcoll::all_reduce(self, in.data(), 40, out.data(), std::plus<>(), elsewhere{});
                else
                    papcoll::all_reduce(self, in.data(), 40, out.data(), std::plus<>());
                CHECK(out == std::vector<long>(40, 6));
            }
            CHECK(papcoll::learned(self).entries().size() == 1);
        });
    }
}

TEST_CASE("a call of an operator's that is refused takes no trial back") {
    papcoll::threads::run(3, [](papcoll::threads::endpoint& self) {
        papcoll::attach(self,
                        {.link = papcoll::link_model{ticks(1000), 0.1}, .node_memory = 0, .learn = true});
        auto const refuse = [] {
            papcoll::threads::run(1, [](papcoll::threads::endpoint& alone) {
                papcoll::attach(alone, {.checks = papcoll::check_level::agreed});
                papcoll::broadcast(alone, static_cast<int*>(nullptr), 1, 0);
            });
        };
        std::vector<long> out(40);
        for (int i = 0; i < 30; ++i) {
            std::vector<long> const in(40, self.rank() + 1);
            bool throws = i == 6 && self.rank() == 0;
            auto const add = papcoll::commutative([&](long a, long b) {
                if (std::exchange(throws, false)) refuse();
                return a + b;
            });
            try {
                papcoll::all_reduce(self, in.data(), 40, out.data(), add);
            } catch (std::exception const&) {
                CHECK(i == 6);
                continue;
            }
            CHECK((i == 6 || out == std::vector<long>(40, 6)));
        }
    });
}
