// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/open_all_gather.hpp>
#include <papcoll/collective/open_gather.hpp>
#include <papcoll/context/attach.hpp>
#include <papcoll/policy/background_circulant.hpp>
#include <papcoll/policy/background_ring.hpp>
#include <papcoll/policy/knomial_tree.hpp>
#include <papcoll/policy/linear.hpp>
#include <papcoll/policy/neighbor_exchange.hpp>
#include <papcoll/policy/ring.hpp>
#include <papcoll/policy/sorted_linear.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "collective_suite.hpp"

/// What split-phase collectives promise on any communicator; called by all ranks of `comm`.
namespace open_suite {

using papcoll::ticks;

/// What policies may be told, right or wrong: nothing, all together, one late, in order, the other way
/// round, at random, far apart.
[[nodiscard]] inline auto all_arrivals(int ranks) -> std::vector<papcoll::arrival_source> {
    auto const p = static_cast<std::size_t>(ranks);
    std::vector<ticks> constant(p, ticks{-5}), late(p), ascending(p), random(p), far(p);
    std::mt19937_64 numbers(p);
    for (std::size_t r = 0; r < p; ++r) {
        ascending[r] = ticks{static_cast<std::int64_t>(r) * 700'000};
        random[r] = ticks{static_cast<std::int64_t>(numbers() % 5'000'000)};
        far[r] = ticks{(std::numeric_limits<std::int64_t>::max() >> 2) / static_cast<std::int64_t>(r + 1)};
    }
    late[p / 3] = ticks{3'000'000};
    auto descending = ascending;
    std::reverse(descending.begin(), descending.end());
    return {{}, constant, late, ascending, descending, random, far};
}

struct elements {
    int ranks;
    std::size_t n;
    int variant;

    [[nodiscard]] auto of(int rank, std::size_t i) const -> double {
        return rank * 1e6 + variant * 1e5 + static_cast<double>(i);
    }
    [[nodiscard]] auto part(int rank) const -> std::vector<double> {
        std::vector<double> v(n);
        for (std::size_t i = 0; i < n; ++i) v[i] = of(rank, i);
        return v;
    }
    [[nodiscard]] auto whole() const -> std::vector<double> {
        std::vector<double> v;
        for (int r = 0; r < ranks; ++r)
            for (std::size_t i = 0; i < n; ++i) v.push_back(of(r, i));
        return v;
    }
    [[nodiscard]] auto nothing() const -> std::vector<double> {
        return std::vector<double>(n * static_cast<std::size_t>(ranks), -7);
    }
};

/// Adds this rank's part, written into the output or given.
template <class Request>
void contribute(Request& open, elements const& e, int rank, double* own_place,
                std::vector<double> const& part) {
    CHECK_FALSE(open.contributed());
    if (own_place != nullptr && e.variant % 2 == 1) {
        for (std::size_t i = 0; i < e.n; ++i) own_place[i] = e.of(rank, i);
        open.contribute();
    } else {
        open.contribute(part.data());
    }
    CHECK(open.contributed());
}

template <class Comm, class Policy>
void gathers_all(Comm& comm, int rank, int ranks, Policy const& policy) {
    (void)papcoll::detail::attached_context(comm);
    int variant = 0;
    for (std::size_t const n : {0u, 1u, 40u, 3000u}) {
        CAPTURE(n);
        elements const e{ranks, n, ++variant};
        auto out = e.nothing();
        auto const part = e.part(rank);
        auto open = papcoll::open_all_gather(comm, out.data(), n, policy);
        for (int i = 0; i < 3; ++i) CHECK_FALSE(open.test());
        auto const own = out.data() + static_cast<std::size_t>(rank) * n;
        contribute(open, e, rank, n > 0 ? own : nullptr, part);
        open.wait();
        CHECK(open.test());
        CHECK(out == e.whole());
    }
}
template <class Comm, class Policy>
void gathers_at_root(Comm& comm, int rank, int ranks, Policy const& policy) {
    (void)papcoll::detail::attached_context(comm);
    int variant = 0;
    for (int const root : {0, ranks - 1})
        for (std::size_t const n : {0u, 1u, 3000u}) {
            CAPTURE(n);
            elements const e{ranks, n, ++variant};
            auto out = e.nothing();
            auto const part = e.part(rank);
            auto open = papcoll::open_gather(comm, out.data(), n, root, policy);
            for (int i = 0; i < 3; ++i) CHECK_FALSE(open.test());
            auto const own = out.data() + static_cast<std::size_t>(rank) * n;
            contribute(open, e, rank, n > 0 && rank == root ? own : nullptr, part);
            open.wait();
            CHECK(out == (rank == root ? e.whole() : e.nothing()));
        }
}

/// Several under way, contributed in another order than begun, an ordinary one between them.
template <class Comm, class Policy>
void in_flight(Comm& comm, int rank, int ranks, Policy const& policy) {
    (void)papcoll::detail::attached_context(comm);
    elements const first{ranks, 500, 0}, second{ranks, 70, 2}, between{ranks, 9, 3};
    auto a = first.nothing(), b = second.nothing(), c = between.nothing();
    auto const part_a = first.part(rank), part_b = second.part(rank), part_c = between.part(rank);
    auto open_a = papcoll::open_all_gather(comm, a.data(), first.n, policy);
    auto open_b = papcoll::open_all_gather(comm, b.data(), second.n, policy);
    papcoll::all_gather(comm, part_c.data(), between.n, c.data(), policy);
    CHECK(c == between.whole());
    open_b.contribute(part_b.data());
    open_b.wait();
    auto moved = std::move(open_a);
    if (rank % 2 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    moved.contribute(part_a.data());
    open_a = std::move(moved);
    open_a.wait();
    CHECK(b == second.whole());
    CHECK(a == first.whole());
}

/// Mistakes throw and change nothing.
template <class Comm>
void mistakes(Comm& comm, int rank, int ranks) {
    (void)papcoll::detail::attached_context(comm);
    using collective_suite::says;
    papcoll::background_ring const policy{};
    elements const e{ranks, 5, 0};
    auto out = e.nothing();
    auto const part = e.part(rank);
    says("out must not be null",
         [&] { (void)papcoll::open_all_gather(comm, static_cast<double*>(nullptr), 5, policy); });
    says("block_time must be positive", [&] {
        (void)papcoll::open_all_gather(comm, out, 5, papcoll::background_ring{{}, ticks{0}});
    });
    auto open = papcoll::open_all_gather(comm, out.data(), e.n, policy);
    CHECK_THROWS_AS(open.wait(), std::logic_error);
    says("in must not be null", [&] { open.contribute(nullptr); });
    says("in overlaps", [&] { open.contribute(out.data() + static_cast<std::size_t>(rank) * e.n); });
    open.contribute(part.data());
    CHECK_THROWS_AS(open.contribute(part.data()), std::logic_error);
    CHECK_THROWS_AS(open.contribute(), std::logic_error);
    open.wait();
    CHECK(out == e.whole());

    auto gathered = e.nothing();
    auto at_root = papcoll::open_gather(comm, gathered, e.n, 0, papcoll::linear{});
    if (rank != 0) CHECK_THROWS_AS(at_root.contribute(), std::logic_error);
    at_root.contribute(part.data());
    at_root.wait();
    CHECK(gathered == (rank == 0 ? e.whole() : e.nothing()));
}

/// All policies, told right and wrong arrivals.
template <class Comm>
void all_policies(Comm& comm, int rank, int ranks) {
    auto const promises = [&](auto const& policy) {
        gathers_all(comm, rank, ranks, policy);
        in_flight(comm, rank, ranks, policy);
    };
    promises(papcoll::circulant{});
    promises(papcoll::ring{});
    promises(papcoll::neighbor_exchange{});
    promises(papcoll::linear{});
    gathers_at_root(comm, rank, ranks, papcoll::linear{});
    gathers_at_root(comm, rank, ranks, papcoll::knomial_tree{});
    for (auto const& arrivals : all_arrivals(ranks)) {
        promises(papcoll::background_ring{.arrivals = arrivals, .block_time = ticks{500'000}});
        promises(
            papcoll::background_circulant{.arrivals = arrivals, .block_time = ticks{500'000}, .segments = 3});
        promises(papcoll::sorted_linear{.arrivals = arrivals, .first_bytes = 20});
        gathers_at_root(comm, rank, ranks, papcoll::sorted_linear{.arrivals = arrivals});
    }
    gathers_all(comm, rank, ranks, papcoll::background_ring{.arrivals = all_arrivals(ranks)[3]});
    gathers_all(comm, rank, ranks, papcoll::background_circulant{.arrivals = all_arrivals(ranks)[2]});
}

} // namespace open_suite
