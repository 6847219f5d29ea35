// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/core.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

/// Plans with buffers of their own; called by all ranks of `comm`, to which papcoll is attached.
namespace own_buffers_suite {

/// What rank r gives as element i in a run.
inline auto given(int r, std::size_t i, int run) -> double {
    return static_cast<double>((r + 1) * 1000 + static_cast<int>(i % 89) + 7 * run);
}
inline void check(std::span<double const> output, std::size_t n, auto const& expected) {
    REQUIRE(output.size() == n);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < n; ++i) wrong += output[i] == expected(i) ? 0 : 1;
    CHECK(wrong == 0);
}
/// Some ranks are late now and then: the others must neither overwrite what these still read, nor read what
/// they write already.
inline void dawdle(int rank, int ranks, int run) {
    if (run % 3 == 2 && rank == run % ranks) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// Runs a plan again and again with input given(rank, i, run), which is spoilt as soon as the run is over,
/// and looks at the output after the others may have gone on.
template <class Plan, class Expected>
void run(Plan plan, int rank, int ranks, std::size_t in, std::size_t out, Expected expected) {
    auto const input = plan.input();
    REQUIRE(input.size() == in);
    for (int i = 0; i < 7; ++i) {
        dawdle(rank, ranks, i);
        for (std::size_t k = 0; k < in; ++k) input[k] = given(rank, k, i);
        if (i % 2 == 0)
            plan.run();
        else
            plan.start().wait();
        bool const is_output = static_cast<void const*>(input.data()) == plan.output().data();
        if (!is_output) std::fill(input.begin(), input.end(), -1.0);
        dawdle(rank, ranks, i + 1);
        check(plan.output(), out, [&](std::size_t k) { return expected(k, i); });
    }
    CHECK(plan.input().data() == input.data());
}

template <class Comm, class... Policy>
void combining(Comm& comm, int rank, int ranks, std::size_t n, Policy const&... policy) {
    using papcoll::plan_all_reduce;
    using papcoll::plan_reduce;
    using papcoll::plan_reduce_scatter_block;
    auto const p = static_cast<std::size_t>(ranks);
    auto const sum_to = [&](int last, std::size_t i, int k) {
        double sum = 0;
        for (int r = 0; r <= last; ++r) sum += given(r, i, k);
        return sum;
    };
    auto const sum = [&](std::size_t i, int k) { return sum_to(ranks - 1, i, k); };
    run(plan_all_reduce<double>(comm, n, std::plus<>(), policy...).with_buffers(), rank, ranks, n, n, sum);
    int const root = ranks / 2;
    run(plan_reduce<double>(comm, n, std::plus<>(), root, policy...).with_buffers(), rank, ranks, n,
        rank == root ? n : 0, sum);
    auto const begin = static_cast<std::size_t>(rank) * n;
    run(plan_reduce_scatter_block<double>(comm, n, std::plus<>(), policy...).with_buffers(), rank, ranks,
        p * n, n, [&](std::size_t i, int k) { return sum(begin + i, k); });
    run(papcoll::plan_scan<double>(comm, n, std::plus<>(), policy...).with_buffers(), rank, ranks, n, n,
        [&](std::size_t i, int k) { return sum_to(rank, i, k); });
    // In the order of the ranks: the first one's.
    auto const first = [](double a, double) { return a; };
    run(plan_all_reduce<double>(comm, n, first, policy...).with_buffers(), rank, ranks, n, n,
        [](std::size_t i, int k) { return given(0, i, k); });
}
template <class Comm, class... Policy>
void copying(Comm& comm, int rank, int ranks, std::size_t n, Policy const&... policy) {
    auto const p = static_cast<std::size_t>(ranks);
    for (int const root : {0, ranks - 1})
        run(papcoll::plan_broadcast<double>(comm, n, root, policy...).with_buffers(), rank, ranks,
            rank == root ? n : 0, n, [&](std::size_t i, int k) { return given(root, i, k); });
    auto const gathered = [&](std::size_t i, int k) {
        auto const from = n > 0 ? i / n : 0;
        return given(static_cast<int>(from), i - from * n, k);
    };
    run(papcoll::plan_all_gather<double>(comm, n, policy...).with_buffers(), rank, ranks, n, p * n, gathered);
    run(papcoll::plan_gather<double>(comm, n, 0, policy...).with_buffers(), rank, ranks, n,
        rank == 0 ? p * n : 0, gathered);
    auto const mine = static_cast<std::size_t>(rank) * n;
    run(papcoll::plan_all_to_all<double>(comm, n, policy...).with_buffers(), rank, ranks, p * n, p * n,
        [&](std::size_t i, int k) {
            auto const from = n > 0 ? i / n : 0;
            return given(static_cast<int>(from), mine + i - from * n, k);
        });
    run(papcoll::plan_scatter<double>(comm, n, 0, policy...).with_buffers(), rank, ranks,
        rank == 0 ? p * n : 0, n, [&](std::size_t i, int k) { return given(0, mine + i, k); });
}
/// All collectives that have such plans.
template <class Comm, class... Policy>
void all(Comm& comm, int rank, int ranks, std::initializer_list<std::size_t> counts,
         Policy const&... policy) {
    for (auto const n : counts) {
        CAPTURE(n);
        combining(comm, rank, ranks, n, policy...);
        copying(comm, rank, ranks, n, policy...);
    }
}
/// Both buffers are zero before the first run, and what others have done since makes no difference.
template <class Comm>
void zeros(Comm& comm, int ranks) {
    for (int i = 0; i < 5; ++i) {
        auto const all_zero = [](auto const& plan) {
            auto const is_zero = [](double x) { return x == 0; };
            CHECK(std::ranges::all_of(plan.input(), is_zero));
            CHECK(std::ranges::all_of(plan.output(), is_zero));
        };
        auto one = papcoll::plan_all_gather<double>(comm, 3'000).with_buffers();
        all_zero(one);
        REQUIRE(one.output().size() == 3'000 * static_cast<std::size_t>(ranks));
        all_zero(papcoll::plan_all_reduce<double>(comm, 3'000, std::plus<>()).with_buffers());
    }
}
/// What is no bytes lies elsewhere.
template <class Comm>
void words(Comm& comm, int rank, int ranks) {
    auto plan = papcoll::plan_all_reduce<std::string>(comm, 2, std::plus<>()).with_buffers();
    for (int i = 0; i < 3; ++i) {
        plan.input()[0] = std::to_string(rank + i);
        plan.input()[1] = "b";
        plan.run();
        std::string expected;
        for (int r = 0; r < ranks; ++r) expected += std::to_string(r + i);
        CHECK(plan.output()[0] == expected);
        CHECK(plan.output()[1] == std::string(static_cast<std::size_t>(ranks), 'b'));
    }
}
/// A plan whose buffers are in use, and one that was made before papcoll was attached again. `meet`: a
/// barrier of the ranks.
template <class Comm, class Meet>
void misuse(Comm& comm, int rank, int ranks, Meet meet) {
    if (ranks == 1) return;
    auto plan = papcoll::plan_all_reduce<double>(comm, 5'000, std::plus<>()).with_buffers();
    if (rank > 0) meet();
    auto last = plan.start();
    if (rank == 0) { // the others have not begun
        CHECK_THROWS_AS(plan.run(), std::logic_error);
        CHECK_THROWS_AS((void)plan.start(), std::logic_error);
        meet();
    }
    last.wait();
    plan.run();
    papcoll::attach(comm);
    CHECK_THROWS_AS(plan.run(), std::logic_error);
}
/// A plan may get its buffers after papcoll has been attached again.
template <class Comm>
void attached_in_between(Comm& comm, int ranks) {
    auto made = papcoll::plan_all_reduce<double>(comm, 5'000, std::plus<>());
    papcoll::attach(comm);
    auto plan = std::move(made).with_buffers();
    for (int i = 1; i < 3; ++i) {
        std::ranges::fill(plan.input(), i);
        plan.run();
        check(plan.output(), 5'000, [&](std::size_t) { return i * ranks; });
    }
}

/// Copies of a plan, of which some get buffers.
template <class Comm>
void copies(Comm& comm, int rank, int ranks) {
    std::size_t const n = 5'000;
    auto made = papcoll::plan_all_reduce<double>(comm, n, std::plus<>());
    auto other = made;
    auto third = made;
    auto first_buffers = std::move(made).with_buffers();
    auto second_buffers = std::move(other).with_buffers();
    int const sum = ranks * (ranks + 1) / 2;
    for (int i = 1; i < 4; ++i) {
        std::vector<double> const in(n, i * (rank + 1));
        std::vector<double> out(n, -1);
        third.run(in.data(), out.data());
        check(std::span<double const>(out), n, [&](std::size_t) { return i * sum; });
        std::ranges::fill(first_buffers.input(), 10 * i);
        std::ranges::fill(second_buffers.input(), 20 * i);
        first_buffers.run();
        second_buffers.run();
        check(first_buffers.output(), n, [&](std::size_t) { return 10 * i * ranks; });
        check(second_buffers.output(), n, [&](std::size_t) { return 20 * i * ranks; });
    }
}

} // namespace own_buffers_suite
