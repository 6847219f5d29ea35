// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/transport/threads.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "../../support/own_buffers_suite.hpp"

using papcoll::threads::endpoint;

namespace {

template <class F>
void run(std::initializer_list<int> all_ranks, std::optional<std::size_t> memory, F f) {
    for (int const ranks : all_ranks) {
        CAPTURE(ranks);
        papcoll::threads::run(ranks, [&](endpoint& self) {
            papcoll::attach(self,
                            {.link = papcoll::link_model{papcoll::ticks(1'000), 0.1}, .node_memory = memory});
            f(self, self.rank(), self.size());
        });
    }
}

struct counting_policy {
    static constexpr bool reorders_operands = false;
    static constexpr auto provides(papcoll::collective_kind) -> bool { return true; }
    [[nodiscard]] auto name() const -> std::string_view { return "counting"; }
    void check(papcoll::call_shape const&) const {}
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> { return {}; }
    [[nodiscard]] auto plan(papcoll::call_shape const& shape, papcoll::link_model const& link) const
        -> papcoll::program {
        ++*plans;
        return papcoll::binomial_tree{}.plan(shape, link);
    }

    std::shared_ptr<int> plans = std::make_shared<int>(0);
};

} // namespace

TEST_CASE("plans with buffers of their own") {
    run({1, 2, 3, 5}, {}, [](endpoint& self, int rank, int ranks) {
        own_buffers_suite::all(self, rank, ranks, {0, 3, 700, 9'001});
    });
}

TEST_CASE("in the memory of the node wherever it is") {
    constexpr std::size_t little = std::size_t(8) << 10;
    run({2, 7}, little, [](endpoint& self, int rank, int ranks) {
        own_buffers_suite::all(self, rank, ranks, {1, 17, 100}, papcoll::shared_memory{});
    });
}

TEST_CASE("and elsewhere") {
    run({3}, 0, [](endpoint& self, int rank, int ranks) {
        own_buffers_suite::all(self, rank, ranks, {0, 3, 900});
    });
    run({4}, {}, [](endpoint& self, int rank, int ranks) {
        own_buffers_suite::combining(self, rank, ranks, 900, papcoll::shared_memory{});
        auto const sum = [&](std::size_t i, int k) {
            double all = 0;
            for (int r = 0; r < ranks; ++r) all += own_buffers_suite::given(r, i, k);
            return all;
        };
        own_buffers_suite::run(
            papcoll::plan_all_reduce<double>(self, 900, std::plus<>(), papcoll::binomial_tree{})
                .with_buffers(),
            rank, ranks, 900, 900, sum);
    });
}

TEST_CASE("buffers of zeros") {
    run({1, 2, 5}, {}, [](endpoint& self, int, int ranks) { own_buffers_suite::zeros(self, ranks); });
}

TEST_CASE("buffers that are in use, or of another attachment") {
    for (int const ranks : {1, 2, 3}) {
        std::barrier together(ranks);
        run({ranks}, {}, [&](endpoint& self, int rank, int) {
            own_buffers_suite::misuse(self, rank, ranks, [&] { together.arrive_and_wait(); });
        });
    }
}

TEST_CASE("buffers of a plan that was made before papcoll was attached again") {
    run({1, 2, 3}, {},
        [](endpoint& self, int, int ranks) { own_buffers_suite::attached_in_between(self, ranks); });
}

TEST_CASE("copies of a plan, of which some get buffers") {
    for (auto const memory : {std::optional<std::size_t>(), std::optional<std::size_t>(0)})
        run({1, 2, 3}, memory,
            [](endpoint& self, int rank, int ranks) { own_buffers_suite::copies(self, rank, ranks); });
}

TEST_CASE("where no memory is shared there is one plan") {
    run({2}, 0, [](endpoint& self, int, int ranks) {
        counting_policy const policy;
        auto plan = papcoll::plan_all_reduce<double>(self, 900, std::plus<>(), policy).with_buffers();
        CHECK(*policy.plans == 1);
        std::ranges::fill(plan.input(), 1);
        plan.run();
        CHECK(plan.output()[899] == ranks);
        CHECK(*policy.plans == 1);
    });
}
