// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>
#include <papcoll/schedule/transfer.hpp>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace papcoll::inline v0 {

/// One end of a transfer, as the rank at the other end sees it.
struct rank_transfer {
    /// When: a send waits for receives of its block in smaller steps.
    step_type step = 0;
    /// The other rank.
    int peer = 0;
    /// Which block.
    int block = 0;

    friend auto operator<=>(rank_transfer const&, rank_transfer const&) = default;
};

/// One rank's share of a schedule, both lists in step order.
///
/// A send depends on the receives of its own block with a strictly smaller step, and on nothing else.
struct rank_schedule {
    /// What the rank sends, in the order of steps.
    std::vector<rank_transfer> sends;
    /// What the rank receives, in the order of steps.
    std::vector<rank_transfer> receives;

    friend auto operator==(rank_schedule const&, rank_schedule const&) -> bool = default;
};

namespace detail {

[[nodiscard]] inline auto text_of(transfer const& t) -> std::string {
    return "the transfer of block " + std::to_string(t.block) + " from rank " + std::to_string(t.from) +
           " to rank " + std::to_string(t.to) + " in step " + std::to_string(t.step);
}
/// What is wrong with a transfer of this problem, whatever the others are; nothing where it is well formed.
[[nodiscard]] inline auto malformed(transfer const& t, problem const& p) -> std::optional<std::string> {
    for (int const rank : {t.from, t.to})
        if (rank < 0 || rank >= p.ranks)
            return text_of(t) + " names rank " + std::to_string(rank) + ", which is not among the " +
                   std::to_string(p.ranks) + " ranks";
    if (t.block < 0 || t.block >= p.blocks)
        return text_of(t) + " names block " + std::to_string(t.block) + ", which is not among the " +
               std::to_string(p.blocks) + " blocks";
    if (t.from == t.to) return text_of(t) + " goes from a rank to itself";
    return {};
}
/// Throws std::invalid_argument with what is wrong.
inline void require_well_formed(transfer const& t, problem const& p) {
    if (auto const mistake = malformed(t, p))
        throw std::invalid_argument("papcoll: the schedule cannot proceed: " + *mistake);
}
inline void require_well_formed(rank_schedule const& share, int rank, problem const& p) {
    for (auto const& t : share.sends) require_well_formed({t.step, rank, t.peer, t.block}, p);
    for (auto const& t : share.receives) require_well_formed({t.step, t.peer, rank, t.block}, p);
}
/// Throws std::invalid_argument unless, after its share of a whole reduction, the rank has those blocks that
/// it owns and no others, or all blocks after one of a dissemination.
inline void require_complete(rank_schedule const& share, schedule_kind kind, int rank, problem const& p) {
    struct block_steps {
        std::optional<step_type> sent, received; // the last ones
    };
    std::vector<block_steps> blocks(static_cast<std::size_t>(p.blocks));
    for (auto const& t : share.sends) {
        auto& last = blocks[static_cast<std::size_t>(t.block)].sent;
        last = std::max(last, std::optional(t.step));
    }
    for (auto const& t : share.receives) {
        auto& last = blocks[static_cast<std::size_t>(t.block)].received;
        last = std::max(last, std::optional(t.step));
    }
    bool const reduces = kind == schedule_kind::reduction;
    for (int b = 0; b < p.blocks; ++b) {
        auto const& [sent, received] = blocks[static_cast<std::size_t>(b)];
        bool const owns = p.owner(b) == rank;
        bool const has = reduces ? !sent || received > sent : owns || received;
        if (has != (owns || !reduces))
            throw std::invalid_argument("papcoll: the schedule is not complete: at its end rank " +
                                        std::to_string(rank) + (has ? " keeps" : " does not have") +
                                        " block " + std::to_string(b) + ", which rank " +
                                        std::to_string(p.owner(b)) + " owns");
    }
}
/// Throws std::invalid_argument with the first transfer that one of its ranks alone has in its share. Both
/// are sorted.
inline void require_both_ends(std::span<transfer const> sends, std::span<transfer const> receives) {
    auto const [sent, received] = std::mismatch(sends.begin(), sends.end(), receives.begin(), receives.end());
    if (sent == sends.end() && received == receives.end()) return;
    bool const is_send = received == receives.end() || (sent != sends.end() && *sent < *received);
    throw std::invalid_argument(
        "papcoll: " + text_of(is_send ? *sent : *received) + " is in the share of its " +
        (is_send ? "sender, but not in that of its receiver" : "receiver, but not in that of its sender"));
}

} // namespace detail

} // namespace papcoll::inline v0
