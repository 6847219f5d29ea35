// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>
#include <papcoll/scheduler/detail/round_set.hpp>
#include <papcoll/scheduler/scheduler.hpp>
#include <papcoll/scheduler/search/linear_search.hpp>
#include <papcoll/scheduler/search/search.hpp>
#include <papcoll/scheduler/search/segment_tree.hpp>
#include <papcoll/scheduler/search/sliced_counters.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace papcoll::inline v0 {

/// Clairvoyant: a reduction that uses each process from its arrival on. In every round of length `round` the
/// processes present pair up greedily, each sending and receiving at most one block; whoever has given
/// everything away leaves. The root, or before it arrives the first process present, collects.
///
/// Needs a commutative operator. Between 1.0 and about 1.35 times (ranks − 1) · blocks transfers; a rank may
/// receive a block again after it sent it, which then replaces nothing: the copy is stored, not combined.
/// Steps number the rounds from the first arrival, idle ones included. All searches give the same schedule;
/// they differ in cost: per transfer O(blocks · ranks) for linear_search, O(blocks / w · log ranks) for
/// segment_tree and sliced_counters on w-bit lanes.
///
/// Every call throws std::invalid_argument if the problem is malformed (see check), `round` is not positive,
/// or arrivals differ by more than 2^62 ns. Owners other than the root are refused.
///
/// Source: Proficz, Ocetkiewicz: Improving Clairvoyant (2020), sections 2, 4 and 5.
template <clairvoyant_search Search = sliced_counters<>>
struct clairvoyant_scheduler {
    static constexpr auto kind = schedule_kind::reduction;

    /// The time one block takes from rank to rank. Better a little too long than too short. Must agree on all
    /// ranks.
    ticks round = std::chrono::milliseconds{1};

    /// Everything but the problem that the schedule depends on.
    [[nodiscard]] auto fingerprint() const -> std::vector<std::int64_t> { return {round.count()}; }
    /// All transfers, in the order in which they are found.
    [[nodiscard]] auto transfers(problem const& p) const -> std::vector<transfer> {
        std::vector<transfer> all;
        generate(p, [&all](transfer const& t) { all.push_back(t); });
        return all;
    }

    /// The share of one rank. Simulates all ranks, but stores the transfers of this one alone.
    [[nodiscard]] auto for_rank(problem const& p, int rank) const -> rank_schedule {
        detail::require(rank >= 0 && rank < p.ranks, "rank must be a rank of the problem", rank);
        rank_schedule mine;
        generate(p, [&mine, rank](transfer const& t) {
            if (t.from == rank) mine.sends.push_back({t.step, t.to, t.block});
            if (t.to == rank) mine.receives.push_back({t.step, t.from, t.block});
        });
        return mine;
    }

    /// Calls sink(transfer) for all transfers, in the order in which they are found.
    template <class Sink>
    void generate(problem const& p, Sink&& sink) const {
        check(p);
        detail::require(round.count() > 0, "round must be positive", round.count());
        for (int const owner : p.owners)
            detail::require(owner == p.root, "every entry of problem.owners must be the root", owner);
        detail::round_set<Search> rounds(p, round);
        auto const ranks = rounds.ranks();
        auto const root = static_cast<int>(std::find(ranks.begin(), ranks.end(), p.root) - ranks.begin());
        Search search(p.ranks, p.blocks);
        bool root_arrived = false;
        auto const join = [&](int position) {
            search.join(position);
            root_arrived = root_arrived || position == root;
        };
        while (rounds.next(join)) play_round(rounds, search, root, root_arrived, sink);
    }

private:
    template <class Sink>
    static void play_round(detail::round_set<Search>& rounds, Search& search, int root, bool root_arrived,
                           Sink& sink) {
        auto const active = rounds.active();
        auto const ranks = rounds.ranks();
        auto const first = root_arrived ? root : active.front();
        bool somebody_done = false;
        auto const receive = [&](int position) {
            auto const match = search.receive(position, position == first);
            if (!match) return;
            somebody_done = somebody_done || search.empty(match.peer);
            sink(transfer{rounds.step(), ranks[static_cast<std::size_t>(match.peer)],
                          ranks[static_cast<std::size_t>(position)], match.block});
        };
        search.begin_round(active);
        receive(first);
        for (int const position : active)
            if (position != first) receive(position);
        if (somebody_done)
            rounds.drop_if([&](int position) { return position != root && search.empty(position); });
    }
};

} // namespace papcoll::inline v0
