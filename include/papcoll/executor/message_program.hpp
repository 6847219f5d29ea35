// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/block_partition.hpp>
#include <papcoll/schedule/rank_schedule.hpp>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// How many messages an executor keeps under way on one rank.
struct message_windows {
    /// Receives posted of which the head has not arrived.
    int receives = 1;
    /// Sends issued of which the head is not known to have arrived.
    int sends = 1;
    /// Whether the receiver admits each message, when it posts the receive, and tells its sender when the
    /// head of it has arrived. Windows of one then give each transfer both its links alone, as a schedule
    /// assumes; otherwise transfers that meet share a link and delay each other. Also bounds what the MPI
    /// library has to buffer.
    bool admission = true;
    /// How much of an admitted message travels behind its head: enough to keep the link busy while the head's
    /// arrival is told and the next message is admitted. 0: none.
    std::size_t tail_bytes = 0;
};

/// One rank's share of a schedule, compiled for execution: transfers of equal (step, peer) are one message,
/// empty blocks are left out, and for each block the order of what happens to it here is known. Plans keep
/// it.
struct message_program {
    struct block_use {
        int block;
        /// How many sends and receives of this block come before this one on this rank.
        int turn;
    };
    struct message {
        int peer;
        int first_use;
        int use_count;
        std::size_t elements;
    };
    struct side {
        std::vector<message> messages;
        std::vector<block_use> uses;
    };

    block_partition partition;
    /// Per block: whether its result belongs to this rank.
    std::vector<bool> owned;
    side sends, receives;
    message_windows windows;

    [[nodiscard]] auto longest_receive() const -> std::size_t {
        std::size_t longest = 0;
        for (auto const& m : receives.messages) longest = std::max(longest, m.elements);
        return longest;
    }
};

namespace detail {

/// Groups the transfers into messages. Both ends list the blocks of a message in ascending order.
inline auto group_messages(std::vector<rank_transfer> transfers, block_partition const& partition)
    -> std::pair<message_program::side, std::vector<step_type>> {
    std::sort(transfers.begin(), transfers.end());
    message_program::side side;
    std::vector<step_type> steps;
    rank_transfer const* previous = nullptr;
    for (auto const& t : transfers) {
        std::size_t const size = partition.size(t.block);
        if (size == 0) continue;
        if (previous == nullptr || previous->step != t.step || previous->peer != t.peer)
            side.messages.push_back({t.peer, static_cast<int>(side.uses.size()), 0, 0});
        side.uses.push_back({t.block, 0});
        steps.push_back(t.step);
        ++side.messages.back().use_count;
        side.messages.back().elements += size;
        previous = &t;
    }
    return {std::move(side), std::move(steps)};
}

} // namespace detail

/// Compiles a share. Throws std::invalid_argument for a block that does not exist, or that this rank both
/// sends and receives in one step.
inline auto compile(rank_schedule const& share, block_partition const& partition, std::vector<bool> owned,
                    message_windows const& windows) -> message_program {
    for (auto const* list : {&share.sends, &share.receives})
        for (auto const& t : *list)
            if (t.block < 0 || t.block >= partition.blocks)
                throw std::invalid_argument(
                    "papcoll: the schedule names a block that the problem does not have");
    auto [sends, send_steps] = detail::group_messages(share.sends, partition);
    auto [receives, receive_steps] = detail::group_messages(share.receives, partition);
    struct last_use {
        int turns = 0;
        step_type step = 0;
        bool send = false;
    };
    std::vector<last_use> blocks(static_cast<std::size_t>(partition.blocks));
    for (std::size_t s = 0, r = 0; s < send_steps.size() || r < receive_steps.size();) {
        bool const send =
            r == receive_steps.size() || (s < send_steps.size() && send_steps[s] < receive_steps[r]);
        auto const step = send ? send_steps[s] : receive_steps[r];
        auto& use = send ? sends.uses[s++] : receives.uses[r++];
        auto& last = blocks[static_cast<std::size_t>(use.block)];
        if (last.turns > 0 && last.step == step && last.send != send)
            throw std::invalid_argument("papcoll: the schedule sends and receives a block in one step");
        use.turn = last.turns;
        last = {last.turns + 1, step, send};
    }
    return {partition, std::move(owned), std::move(sends), std::move(receives), windows};
}

} // namespace papcoll::inline v0
