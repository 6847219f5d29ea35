// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/program/program.hpp>
#include <papcoll/program/program_builder.hpp>
#include <papcoll/schedule/butterfly_round.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace papcoll::inline v0 {

/// Ranks hear of each other by the empty messages of a butterfly (see butterfly()): unless P is a power of
/// two ⌊log2 P⌋ + 2 rounds, which may be one more than those of a dissemination, and fewer messages, of which
/// most go both ways between two ranks. `ranks`: those that take part, by whose places the peers of the
/// `rounds` are numbered. A rank sends those of a round when all of the rounds before are in, and what it has
/// `heard` before. Returns by what it has heard of all.
inline auto write_butterfly_signs(program_builder& to, std::span<int const> ranks,
                                  std::span<butterfly_round const> rounds, std::vector<program::index> heard)
    -> std::vector<program::index> {
    std::span<region const> const nothing;
    int const messages = static_cast<int>(rounds.size()) + 1; // empty: all may be under way
    to.use({.receives = messages, .sends = messages, .admission = false, .together = true});
    for (auto const& round : rounds) {
        int const peer = ranks[static_cast<std::size_t>(round.peer)];
        std::optional<program::index> next;
        if (round.receives()) next = to.receive(peer, nothing);
        if (round.sends()) {
            for (auto const earlier : heard) to.after(earlier);
            to.send(peer, nothing);
        }
        if (next) heard.push_back(*next);
    }
    return heard;
}

/// The same by a star: the first rank hears of all others, and tells them, with the fewest messages. `me`:
/// which of the `ranks` this one is.
inline auto write_star_signs(program_builder& to, std::span<int const> ranks, int me,
                             std::vector<program::index> heard) -> std::vector<program::index> {
    std::span<region const> const nothing;
    auto const others = ranks.subspan(1);
    int const messages = static_cast<int>(ranks.size()); // empty: all may be under way
    to.use({.receives = messages, .sends = messages, .admission = false, .together = true});
    auto const tell = [&](int rank) {
        for (auto const earlier : heard) to.after(earlier);
        to.send(rank, nothing);
    };
    if (me != 0) {
        auto const all = to.receive(ranks.front(), nothing);
        tell(ranks.front());
        return {all};
    }
    for (int const rank : others) heard.push_back(to.receive(rank, nothing));
    for (int const rank : others) tell(rank);
    return heard;
}

} // namespace papcoll::inline v0
