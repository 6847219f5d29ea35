// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis/verify.hpp>
#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/scheduler/scheduler.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "sanitized.hpp"

namespace circulant_owners {

using papcoll::problem;

struct owned_blocks {
    std::string name;
    std::vector<int> owners;

    void of(int ranks) const&& = delete; // a problem does not own
    [[nodiscard]] auto of(int ranks) const& -> problem {
        return {
            .ranks = ranks, .root = ranks / 2, .blocks = static_cast<int>(owners.size()), .owners = owners};
    }
};

/// Owner r has count(r) blocks, which are neighbours; one block more for the last rank if there is none.
template <class Count>
auto neighbours(std::string name, int ranks, Count const& count) -> owned_blocks {
    owned_blocks result{std::move(name), {}};
    for (int r = 0; r < ranks; ++r)
        result.owners.insert(result.owners.end(), static_cast<std::size_t>(count(r)), r);
    if (result.owners.empty()) result.owners.push_back(ranks - 1);
    return result;
}

/// Who may own what among p ranks: equal, unequal and no blocks, in order, dealt out in turn, and at random.
inline auto distributions(int p) -> std::vector<owned_blocks> {
    std::mt19937 random(static_cast<unsigned>(p));
    auto const below = [&](int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random); };
    std::vector<owned_blocks> all{
        neighbours("one each", p, [](int) { return 1; }),
        neighbours("three each", p, [](int) { return 3; }),
        neighbours("0, 1, 2 in turn", p, [](int r) { return r % 3; }),
        neighbours("all at rank p/3", p, [&](int r) { return r == p / 3 ? 11 : 0; }),
        neighbours("most at the last rank", p, [&](int r) { return r == p - 1 ? 13 : r % 2; }),
        neighbours("two owners", p, [&](int r) { return r == 0 ? 2 : (r == p / 2 ? 9 : 0); }),
        neighbours("any number", p, [&](int) { return below(3) == 0 ? below(8) : 0; }),
        {"dealt out in turn", {}},
        {"random owners", {}},
    };
    for (int b = 0; b < 2 * p + 1; ++b) all[7].owners.push_back((b + 1) % p);
    for (int b = 0; b < p + p / 2 + 1; ++b) all[8].owners.push_back(below(p));
    return all;
}

/// Calls f(problem) for all distributions over p ≤ 64 and some larger, awkward p; with sanitizers over some.
template <class F>
void for_problems(F const& f) {
    std::vector<int> ranks;
    for (int p = 1; p <= test_support::at_most(64, 11); ++p) ranks.push_back(p);
    if (test_support::sanitized)
        ranks.insert(ranks.end(), {17, 31, 33, 100});
    else
        ranks.insert(ranks.end(), {100, 127, 128, 129, 255, 257});
    for (int const p : ranks)
        for (auto const& blocks : distributions(p)) {
            CAPTURE(p);
            CAPTURE(blocks.name);
            f(blocks.of(p));
        }
}

/// What is wrong with a scheduler's shares: the schedule itself, receives that nobody sends, or blocks of a
/// step that do not ascend.
template <papcoll::scheduler S>
auto violation(S const& s, problem const& p) -> std::optional<std::string> {
    std::vector<papcoll::transfer> sent;
    std::vector<papcoll::transfer> received;
    for (int rank = 0; rank < p.ranks; ++rank) {
        auto const share = s.for_rank(p, rank);
        for (auto const* list : {&share.sends, &share.receives})
            if (!std::is_sorted(list->begin(), list->end())) return "a list is not in order";
        for (auto const& t : share.sends) sent.push_back({t.step, rank, t.peer, t.block});
        for (auto const& t : share.receives) received.push_back({t.step, t.peer, rank, t.block});
    }
    std::sort(sent.begin(), sent.end());
    std::sort(received.begin(), received.end());
    if (sent != received) return "sends and receives differ";
    return S::kind == papcoll::schedule_kind::reduction ? verify_reduction(sent, p)
                                                        : verify_dissemination(sent, p);
}

/// The scheduler under another type, so that reversed() treats it as it treats any scheduler.
template <papcoll::scheduler S>
struct plain {
    static constexpr auto kind = S::kind;
    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> papcoll::rank_schedule {
        return S{}.for_rank(p, rank);
    }
};

/// Per rank how many blocks it owns.
inline auto counts(problem const& p) -> std::vector<int> {
    std::vector<int> result(static_cast<std::size_t>(p.ranks));
    for (int b = 0; b < p.blocks; ++b) ++result[static_cast<std::size_t>(p.owner(b))];
    return result;
}

} // namespace circulant_owners
