// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/collective/all_reduce.hpp>
#include <papcoll/collective/broadcast.hpp>
#include <papcoll/collective/open_all_gather.hpp>
#include <papcoll/context/agreement.hpp>
#include <papcoll/context/attach.hpp>
#include <papcoll/context/observed_operation.hpp>
#include <papcoll/context/progress_engine.hpp>
#include <papcoll/executor/request.hpp>
#include <papcoll/policy/circulant.hpp>
#include <papcoll/transport/threads.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

using papcoll::threads::endpoint;
using papcoll::threads::options;

namespace {

struct extremes {
    int smallest, largest;
    static auto merge(extremes const& a, extremes const& b) -> extremes {
        return {std::min(a.smallest, b.smallest), std::max(a.largest, b.largest)};
    }
};

/// Ends after `steps` calls, by an exception when it is told to.
class countdown final : public papcoll::operation {
public:
    countdown(int steps, bool fails)
        : m_steps(steps)
        , m_fails(fails) {}
    auto advance(bool) -> bool override {
        CHECK_FALSE(m_inside.exchange(true)); // one driver at any moment
        if (--m_steps == 0 && m_fails) {
            m_inside = false;
            throw std::runtime_error("countdown");
        }
        std::this_thread::sleep_for(std::chrono::microseconds(20));
        m_inside = false;
        return m_steps % 2 == 0;
    }
    [[nodiscard]] auto finished() const -> bool override { return m_steps <= 0; }
    auto abandon() noexcept -> bool override {
        abandoned = true;
        return false;
    }

    std::atomic<bool> abandoned = false;

private:
    std::atomic<int> m_steps;
    bool m_fails;
    std::atomic<bool> m_inside = false;
};

} // namespace

TEST_CASE("all ranks reach the same agreement at every number of ranks") {
    for (int const ranks : {1, 2, 3, 4, 5, 7, 8, 13, 16, 17})
        for (std::uint64_t const seed : {0u, 9u}) {
            CAPTURE(ranks);
            papcoll::threads::run(ranks, options{.eager_limit = 0, .seed = seed}, [&](endpoint& self) {
                papcoll::detail::agreement<endpoint, extremes, extremes (*)(extremes const&, extremes const&)>
                    agreement({self.rank() * 3 % ranks, self.rank() * 5}, extremes::merge, 7);
                while (!agreement.advance(self, true)) continue;
                CHECK(agreement.result().smallest == 0);
                CHECK(agreement.result().largest == (ranks - 1) * 5);
            });
        }
}

TEST_CASE("attaching measures the link, the same for all, or takes what is given") {
    for (int const ranks : {1, 2, 3, 8}) {
        std::vector<papcoll::link_model> measured(static_cast<std::size_t>(ranks)), given = measured;
        papcoll::threads::run(ranks, [&](endpoint& self) {
            papcoll::attach(self);
            auto const rank = static_cast<std::size_t>(self.rank());
            measured[rank] = papcoll::context_of(self)->link();
            papcoll::attach(
                self, {.checks = self.rank() == 0 ? papcoll::check_level::agreed : papcoll::check_level::off,
                       .link = papcoll::link_model{papcoll::ticks(500 + self.rank()), 2.5}});
            given[rank] = papcoll::context_of(self)->link();
            CHECK(papcoll::context_of(self)->checks() == papcoll::check_level::agreed);
        });
        for (auto const& link : measured) {
            CHECK(link.latency == measured[0].latency);
            CHECK(link.per_byte == measured[0].per_byte);
            CHECK((link.latency.count() > 0) == (ranks > 1));
        }
        for (auto const& link : given) {
            CHECK(link.latency == papcoll::ticks(500 + ranks - 1));
            CHECK(link.per_byte == 2.5);
        }
    }
}

TEST_CASE("a transport with short messages is measured as far as it goes") {
    papcoll::threads::run(2, options{.eager_limit = 0, .seed = 0, .max_message_bytes = 100},
                          [](endpoint& self) {
                              papcoll::attach(self);
                              CHECK(papcoll::context_of(self)->link().per_byte == 0);
                          });
}

TEST_CASE("operations never use the tags that are reserved, nor those of another series") {
    papcoll::threads::run(1, [](endpoint& self) {
        papcoll::attach(self);
        auto const c = papcoll::context_of(self);
        std::set<int> seen;
        int most = 0;
        for (auto const& tags : {c->tags(), c->open_tags()})
            for (int i = 0; i < std::min(tags->operations(), 20'000); ++i) {
                int const tag = c->next_tag(tags);
                for (int const one : {tag, tag + 1}) { // the second of the companion channel
                    most = std::max(most, one);
                    CHECK_UNARY(one >= 0);
                    CHECK_UNARY_FALSE(papcoll::is_reserved_tag(one));
                    if (i < tags->under_way()) CHECK_UNARY(seen.insert(one).second);
                }
            }
        CHECK(most < self.tags());
    });
}

TEST_CASE("calls that all ranks refuse together leave their tags as they were") {
    papcoll::threads::run(2, [](endpoint& self) {
        papcoll::attach(self, {.checks = papcoll::check_level::agreed,
                               .link = papcoll::link_model{papcoll::ticks(1000), 1}});
        auto const c = papcoll::context_of(self);
        int const root = self.rank();
        std::vector<int> const values(2, 1);
        std::vector<int> out(8);
        CHECK_THROWS_AS(papcoll::broadcast(self, out.data(), 1, root), std::invalid_argument);
        auto refused = papcoll::open_all_gather(self, out.data(), 1 + static_cast<std::size_t>(root));
        CHECK_THROWS_AS((refused.contribute(values.data()), refused.wait()), std::invalid_argument);
        CHECK_FALSE(c->tags()->has_spoilt());
        CHECK_FALSE(c->open_tags()->has_spoilt());
    });
}

TEST_CASE("a tag whose operation failed on this rank alone is not used again") {
    papcoll::detail::tag_ledger tags(0, 10, 5);
    for (int i = 0; i < 10; ++i) CHECK(tags.next() == 2 * i);
    tags.spoil(6);
    CHECK(tags.has_spoilt());
    tags.spoil(2);
    CHECK(tags.next() == 0);
    CHECK_THROWS_AS((void)tags.next(), std::logic_error);
    CHECK(tags.next() == 4);
    CHECK_THROWS_AS((void)tags.next(), std::logic_error);
    CHECK(tags.next() == 8);
}

TEST_CASE("an operation keeps its tag until it has ended or goes") {
    auto const tags = std::make_shared<papcoll::detail::tag_ledger>(10, 700, 70);
    std::vector<papcoll::detail::tag_lease> leases;
    for (int i = 0; i < 70; ++i) {
        int const tag = tags->next();
        CHECK(tags->is_free(tag));
        leases.emplace_back(tags, tag);
        CHECK_FALSE(tags->is_free(tag));
    }
    leases[66].end();
    for (int i = 0; i < 70; ++i)
        CHECK(tags->is_free(tags->next()) == (i == 66)); // other tags, the same places
    leases[3] = papcoll::detail::tag_lease(tags, 10 + 2 * 66);
    CHECK(tags->is_free(10 + 2 * 3));
    CHECK_FALSE(tags->is_free(10 + 2 * 66));
    leases.clear();
    for (int i = 0; i < 70; ++i) CHECK(tags->is_free(tags->next()));
}

TEST_CASE("turns that are passed early are skipped when they come") {
    papcoll::threads::run(1, [](endpoint& self) {
        papcoll::attach(self);
        auto const c = papcoll::context_of(self);
        for (std::uint32_t i = 0; i < 5; ++i) CHECK(c->next_turn() == i);
        c->pass_turn(2);
        c->pass_turn(1);
        CHECK(c->is_turn(0));
        c->pass_turn(0);
        CHECK(c->is_turn(3));
        c->pass_turn(3);
        CHECK(c->is_turn(4));
    });
}

TEST_CASE("a link of negative cost is refused") {
    papcoll::threads::run(1, [](endpoint& self) {
        CHECK_THROWS_AS(papcoll::attach(self, {.link = papcoll::link_model{papcoll::ticks(-1), 1}}),
                        std::invalid_argument);
        CHECK_THROWS_AS(papcoll::attach(self, {.link = papcoll::link_model{papcoll::ticks(1), -1}}),
                        std::invalid_argument);
    });
}

TEST_CASE("the transfer time is latency plus bytes") {
    papcoll::link_model const link{papcoll::ticks(1000), 0.5};
    CHECK(link.transfer_time(0) == papcoll::ticks(1000));
    CHECK(link.transfer_time(std::size_t(1) << 33) == papcoll::ticks(1000 + (std::int64_t(1) << 32)));
}

TEST_CASE("one thread drives and all waiters end, failures go to their own operation") {
    papcoll::progress_engine engine(true);
    std::vector<std::shared_ptr<countdown>> operations;
    for (int i = 0; i < 6; ++i) operations.push_back(std::make_shared<countdown>(20 + 10 * i, i == 3));
    std::vector<std::thread> threads;
    std::atomic<int> failures = 0;
    for (auto const& op : operations) engine.start(op);
    for (auto const& op : operations)
        threads.emplace_back([&engine, &failures, op] {
            engine.wait(*op, [] { std::this_thread::yield(); });
            if (engine.retire(*op)) ++failures;
        });
    for (auto& thread : threads) thread.join();
    CHECK(failures == 1);
    for (std::size_t i = 0; i < operations.size(); ++i) CHECK(operations[i]->abandoned == (i == 3));
}

TEST_CASE("the tag of an operation that fails here alone is spoilt, whether it is observed or not") {
    struct failing final : papcoll::operation {
        auto advance(bool) -> bool override { throw std::domain_error("fails"); }
        [[nodiscard]] auto finished() const -> bool override { return false; }
    };
    for (bool const observed : {false, true}) {
        CAPTURE(observed);
        auto const tags = std::make_shared<papcoll::detail::tag_ledger>(0, 3, 3);
        std::shared_ptr<papcoll::operation> op = std::make_shared<failing>();
        op->keep(papcoll::detail::tag_lease(tags, tags->next()));
        if (observed)
            op = std::make_shared<papcoll::detail::observed_operation>(
                op, [](papcoll::collective_record const&) {}, papcoll::collective_record{});
        papcoll::progress_engine engine(false);
        CHECK(engine.run(op, [] {}) != nullptr);
        CHECK(tags->is_free(0));
        CHECK(tags->next() == 2);
        CHECK(tags->next() == 4);
        CHECK_THROWS_AS((void)tags->next(), std::logic_error);
    }
}

namespace {

/// Asked on some ranks, it has no arrivals.
struct failing_arrivals : papcoll::circulant {
    bool fails = false;
    [[nodiscard]] auto pending_arrivals() const -> papcoll::arrival_source {
        if (fails) throw std::domain_error("no arrivals");
        return {};
    }
};

} // namespace

TEST_CASE(
    "a call whose arrivals fail on one rank counts as made there, and with agreed checks fails on all") {
    for (auto const checks : {papcoll::check_level::local, papcoll::check_level::agreed}) {
        bool const agreed = checks == papcoll::check_level::agreed;
        CAPTURE(agreed);
        papcoll::threads::run(2, [&](endpoint& self) {
            papcoll::attach(self, {.checks = checks, .link = papcoll::link_model{papcoll::ticks(1000), 1}});
            failing_arrivals policy;
            policy.fails = self.rank() == 0;
            int value = self.rank() + 1;
            auto const made = [&](auto const& call) {
                if (agreed)
                    CHECK_THROWS_AS(call(), std::invalid_argument);
                else if (policy.fails)
                    CHECK_THROWS_AS(call(), std::domain_error);
                else
                    call();
                int const mine = self.rank() + 1; // which meets the same call of the others
                int sum = 0;
                papcoll::all_reduce(self, &mine, 1, &sum, std::plus<>());
                CHECK(sum == 3);
            };
            made([&] { papcoll::broadcast(self, &value, 1, 1, policy); });
            made([&] { papcoll::ibroadcast(self, &value, 1, 1, policy).wait(); });
            made([&] { (void)papcoll::plan_broadcast<int>(self, 1, 1, policy); });
        });
    }
}
