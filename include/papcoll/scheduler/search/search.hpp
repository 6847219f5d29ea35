// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <span>

namespace papcoll::inline v0 {

/// A transfer that a Clairvoyant search found: `peer` sends `block` to the receiver asked for.
struct search_match {
    /// The rank that was found; negative: none.
    int peer = -1;
    /// The block that it can have.
    int block = -1;

    /// Whether anything was found.
    [[nodiscard]] explicit operator bool() const { return peer >= 0; }
    friend auto operator==(search_match const&, search_match const&) -> bool = default;
};

/// The state of all (process, segment) cells, and the search for the next transfer in it. Processes are
/// numbered by *position*: their place in the order of arrival time modulo round time. Seen from the head of
/// a round, cyclically, that is the order in which the processes of a round become available, whichever round
/// it is.
///
///  1. `S(ranks, blocks)`: no process takes part yet; each holds its own contribution to every block.
///  2. `s.join(p)`: process p takes part from the next round on. Called once per process.
///  3. `s.begin_round(active)`: what was received in the round before can now be sent, everybody may send
///  again.
///     `active` are the processes of this round from the head on, in the order of availability. A process
///     that joined is missing only if it holds nothing.
///  4. `s.receive(p, sink)` finds, for the receiver p, the lowest block, and for it the first process z of
///  the
///     round, such that z is not p, has not sent in this round, holds the block since before the round, and p
///     holds it too (the sink: or has sent it earlier). The transfer is carried out: z does not hold the
///     block any more and sends nothing else in this round, p holds it but cannot send it before the next
///     round. Called at most once per process and round, with `sink` at most for the first. Without a match
///     nothing changes.
///  5. `s.empty(p)`: p holds no block.
///
/// linear_search is the minimal model.
template <class S>
concept clairvoyant_search = requires(S s, S const& c, int position, bool sink, std::span<int const> active) {
    requires std::constructible_from<S, int, int>;
    { s.join(position) } -> std::same_as<void>;
    { s.begin_round(active) } -> std::same_as<void>;
    { s.receive(position, sink) } -> std::same_as<search_match>;
    { c.empty(position) } -> std::same_as<bool>;
};

} // namespace papcoll::inline v0
