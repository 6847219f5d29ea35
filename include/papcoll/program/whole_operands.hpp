// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/program/program_builder.hpp>
#include <papcoll/schedule/butterfly_round.hpp>
#include <papcoll/schedule/census_round.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

// All-reduces in which ranks exchange whole operands of n elements.
namespace papcoll::inline v0 {

/// A butterfly: in each round a rank exchanges its partial result with a peer, and both combine the two in
/// the same order, the lower rank's on the left, by the same machine code: all get the same bits.
inline void write_butterfly(program_builder& to, std::span<butterfly_round const> rounds, int rank,
                            std::size_t n) {
    region const in(memory::in, 0, n);
    region const out(memory::out, 0, n);
    std::array const arrivals{to.scratch(n), to.scratch(n)}; // used in turn
    auto held = in;
    std::size_t received = 0;
    for (auto const& round : rounds) {
        if (n == 0) break;
        if (round.sends()) to.send(round.peer, held);
        if (!round.receives()) continue;
        if (round.what == butterfly_round::work::learn) {
            to.receive(round.peer, out);
        } else {
            auto const theirs = arrivals[received++ % 2];
            to.receive(round.peer, theirs);
            bool const from_below = round.peer < rank;
            to.combine_alike(out, from_below ? theirs : held, from_below ? held : theirs);
        }
        held = out;
    }
    to.copy(out, held);
}

/// Rounds in which groups of ranks exchange their partial results, each with all others of its group, and all
/// of a group combine them in the same order, by the same machine code: all ranks get the same bits.
/// Operators need be associative alone.
///
/// The ranks are numbered by mixed digits, digit t of `groups[t]` values, the lowest first; in round t those
/// whose numbers differ in digit t alone are a group. So before it a rank has the combination of all operands
/// whose numbers differ from its own in lower digits: neighbours. `groups` multiply to the number of ranks;
/// with groups of two, recursive doubling. Scratch memory for (g + h − 2) n elements, g and h being the
/// largest groups of the even and of the odd rounds.
inline void write_group_exchange(program_builder& to, std::span<int const> groups, int rank, std::size_t n) {
    region const out(memory::out, 0, n);
    region held(memory::in, 0, n);
    std::array<std::vector<region>, 2> arrivals; // used in turn
    for (std::size_t t = 0; t < groups.size(); ++t)
        while (static_cast<int>(arrivals[t % 2].size()) < groups[t] - 1)
            arrivals[t % 2].push_back(to.scratch(n));
    std::size_t turn = 0;
    int stride = 1;
    for (int const size : groups) {
        if (n == 0) break;
        int const own = rank / stride % size;
        auto const member = [&](int d) { return rank + (d - own) * stride; };
        for (int d = 1; d < size; ++d) to.send(member((own + d) % size), held);
        std::vector<region> operands(static_cast<std::size_t>(size), held);
        auto slot = arrivals[turn++ % 2].begin();
        for (int d = 1; d < size; ++d) {
            int const from = (own + size - d) % size;
            operands[static_cast<std::size_t>(from)] = *slot++;
            to.receive(member(from), operands[static_cast<std::size_t>(from)]);
        }
        auto combined = operands.front();
        for (int d = 1; d < size; ++d) {
            auto const target = d < own ? combined : out; // which may be what this rank holds
            to.combine_alike(target, combined, operands[static_cast<std::size_t>(d)]);
            combined = target;
        }
        held = out;
        stride *= size;
    }
    to.copy(out, held);
}

/// A census: every rank combines partial results of all the others with its own contribution, in rounds of
/// one message sent and one received. The order of combination differs from rank to rank.
inline void write_census(program_builder& to, std::span<census_round const> rounds, std::size_t n) {
    region const in(memory::in, 0, n);
    region const out(memory::out, 0, n);
    // Used in turn.
    std::array const arrivals{to.scratch(n), to.scratch(n)};
    region const departures[] = {to.scratch(n), to.scratch(n)}; // NOLINT(modernize-avoid-c-arrays)
    std::optional<region> partial;
    std::size_t turn = 0;
    for (auto const& round : rounds) {
        if (n == 0) return;
        auto const arriving = arrivals[turn++ % 2];
        if (!partial) {
            to.send(round.to, in);
        } else if (round.own) {
            auto const leaving = departures[turn % 2];
            to.combine(leaving, in, *partial);
            to.send(round.to, leaving);
        } else {
            to.send(round.to, *partial);
        }
        to.receive(round.from, arriving);
        if (partial) to.combine(arriving, *partial, arriving);
        partial = arriving;
    }
    if (partial)
        to.combine(out, in, *partial);
    else
        to.copy(out, in);
}

/// The operands of all ranks, which lie one behind the other in `all`, combined in the order of ranks.
inline void write_ordered_combination(program_builder& to, region const& all, std::size_t n) {
    auto const first = all.part(0, n);
    for (std::size_t at = n; n > 0 && at < all.size(); at += n) to.combine(first, first, all.part(at, n));
    to.copy(region(memory::out, 0, n), first);
}

} // namespace papcoll::inline v0
