// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/is_power.hpp>
#include <papcoll/program/program.hpp>
#include <papcoll/program/program_builder.hpp>
#include <papcoll/schedule/butterfly_round.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

// Barriers: ranks hear of each other by empty messages.
namespace papcoll::inline v0 {

namespace detail {

/// For so many in either direction: all may be under way.
inline void use_for_signs(program_builder& to, std::size_t messages) {
    auto const all = static_cast<int>(std::max<std::size_t>(messages, 1));
    to.use({.receives = all, .sends = all, .admission = false, .together = true});
}
inline auto expect_sign(program_builder& to, int from) -> program::index {
    return to.receive(from, std::span<region const>());
}
/// When all that was `heard` is in.
inline void send_sign(program_builder& to, int rank, std::span<program::index const> heard) {
    for (auto const earlier : heard) to.after(earlier);
    to.send(rank, std::span<region const>());
}

} // namespace detail

/// Calls round(distances) for each round of a dissemination of radix k, in which a rank hears of the ranks at
/// the distances k^j, 2·k^j, …, (k − 1)·k^j below it: after ⌈log_k P⌉ rounds of all.
template <class Round>
void each_dissemination_round(int ranks, int radix, Round round) {
    std::vector<int> distances;
    for (long long unit = 1; unit < ranks; unit *= radix) {
        distances.clear();
        for (int i = 1; i < radix && i * unit < ranks; ++i) distances.push_back(static_cast<int>(i * unit));
        round(std::span<int const>(distances));
    }
}

/// Ranks hear of each other by empty messages: ⌈log_k P⌉ rounds of up to k − 1 messages (Hensgen, Finkel and
/// Manber, Two algorithms for barrier synchronization, 1988). Where P is a power of k those of a round go
/// both ways between the same ranks, whose numbers to base k differ in one digit: fewer connections, and
/// what acknowledges one message goes with the other. A rank sends those of a round when all of the rounds
/// before are in, and what it has `heard` before. `ranks`: those that take part; `me`: which of them this one
/// is; `radix`: k. Returns by what it has heard of all.
inline auto write_dissemination_signs(program_builder& to, std::span<int const> ranks, int me, int radix,
                                      std::vector<program::index> heard) -> std::vector<program::index> {
    std::vector<program::index> next;
    int const n = static_cast<int>(ranks.size());
    bool const in_groups = detail::is_power(n, radix);
    std::size_t messages = 0;
    each_dissemination_round(n, radix, [&](auto distances) { messages += distances.size(); });
    detail::use_for_signs(to, messages);
    each_dissemination_round(n, radix, [&](std::span<int const> distances) {
        next.clear();
        int const unit = distances.front();
        auto const rank = [&](int distance) {
            int const group = in_groups ? me / (unit * radix) * (unit * radix) : 0;
            int const size = in_groups ? unit * radix : n;
            int const there = group + (me - group + distance + size) % size;
            return ranks[static_cast<std::size_t>(there)];
        };
        for (int const d : distances) next.push_back(detail::expect_sign(to, rank(-d)));
        for (int const d : distances) detail::send_sign(to, rank(d), heard);
        heard.insert(heard.end(), next.begin(), next.end());
    });
    return heard;
}

/// Ranks hear of each other by the empty messages of a butterfly (see butterfly()): unless P is a power of
/// two ⌊log2 P⌋ + 2 rounds, which may be one more than those of a dissemination, and fewer messages, of which
/// most go both ways between two ranks. `ranks`: those that take part, by whose places the peers of the
/// `rounds` are numbered. A rank sends those of a round when all of the rounds before are in, and what it has
/// `heard` before. Returns by what it has heard of all.
inline auto write_butterfly_signs(program_builder& to, std::span<int const> ranks,
                                  std::span<butterfly_round const> rounds, std::vector<program::index> heard)
    -> std::vector<program::index> {
    detail::use_for_signs(to, rounds.size());
    for (auto const& round : rounds) {
        int const peer = ranks[static_cast<std::size_t>(round.peer)];
        std::optional<program::index> next;
        if (round.receives()) next = detail::expect_sign(to, peer);
        if (round.sends()) detail::send_sign(to, peer, heard);
        if (next) heard.push_back(*next);
    }
    return heard;
}

/// The same by a star: the first rank hears of all others, and tells them, with the fewest messages. `me`:
/// which of the `ranks` this one is.
inline auto write_star_signs(program_builder& to, std::span<int const> ranks, int me,
                             std::vector<program::index> heard) -> std::vector<program::index> {
    detail::use_for_signs(to, ranks.size());
    if (me != 0) {
        auto const all = detail::expect_sign(to, ranks.front());
        detail::send_sign(to, ranks.front(), heard);
        return {all};
    }
    auto const others = ranks.subspan(1);
    for (int const rank : others) heard.push_back(detail::expect_sign(to, rank));
    for (int const rank : others) detail::send_sign(to, rank, heard);
    return heard;
}

} // namespace papcoll::inline v0
