// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis/verify.hpp>
#include <papcoll/scheduler/scheduler.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

/// A problem with the vectors that it refers to.
struct owned_problem {
    int ranks = 1;
    std::vector<int> owners;
    std::vector<papcoll::ticks> arrivals;
    int root = 0;

    [[nodiscard]] auto view() const -> papcoll::problem {
        return {.ranks = ranks,
                .root = root,
                .blocks = static_cast<int>(owners.size()),
                .arrivals = arrivals,
                .owners = owners};
    }
};

/// Every rank has `pieces` blocks: owner(b) = b / pieces.
inline auto all_gather_problem(int ranks, int pieces, std::vector<papcoll::ticks> arrivals = {})
    -> owned_problem {
    owned_problem p{.ranks = ranks, .owners = {}, .arrivals = std::move(arrivals)};
    for (int b = 0; b < ranks * pieces; ++b) p.owners.push_back(b / pieces);
    return p;
}

/// Blocks in any order of owners, of whom some have several and some none.
template <class Random>
auto scattered_owners(int ranks, int blocks, Random& random) -> std::vector<int> {
    std::vector<int> owners;
    std::uniform_int_distribution<int> any(0, ranks - 1);
    for (int b = 0; b < blocks; ++b) owners.push_back(any(random));
    return owners;
}

/// Arrivals in [0, largest], some of them equal.
template <class Random>
auto random_arrivals(int ranks, long largest, Random& random) -> std::vector<papcoll::ticks> {
    std::vector<papcoll::ticks> arrivals;
    std::uniform_int_distribution<long> any(0, largest);
    for (int r = 0; r < ranks; ++r)
        arrivals.emplace_back(r > 0 && any(random) % 4 == 0 ? arrivals.back() : papcoll::ticks{any(random)});
    return arrivals;
}

/// The whole schedule, after checks that the shares of the ranks belong to one right dissemination: sends and
/// receives fit, lists are in the order of steps, every rank ends with everything.
template <papcoll::scheduler S>
auto verified(S const& s, papcoll::problem const& p) -> std::vector<papcoll::transfer> {
    std::vector<papcoll::transfer> sent, received;
    auto const by_step = [](auto const& a, auto const& b) { return a.step < b.step; };
    for (int rank = 0; rank < p.ranks; ++rank) {
        auto const share = s.for_rank(p, rank);
        REQUIRE(std::is_sorted(share.sends.begin(), share.sends.end(), by_step));
        REQUIRE(std::is_sorted(share.receives.begin(), share.receives.end(), by_step));
        for (auto const& t : share.sends) sent.push_back({t.step, rank, t.peer, t.block});
        for (auto const& t : share.receives) received.push_back({t.step, t.peer, rank, t.block});
    }
    std::sort(sent.begin(), sent.end());
    std::sort(received.begin(), received.end());
    REQUIRE((sent == received));
    auto const violation = verify_dissemination(sent, p);
    REQUIRE_MESSAGE(!violation, violation.value_or(""));
    return sent;
}

/// The number of steps from 0 to the last with a transfer.
inline auto steps_of(std::vector<papcoll::transfer> const& sorted) -> papcoll::step_type {
    return sorted.empty() ? 0 : sorted.back().step + 1;
}
