// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/block_partition.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
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
    /// How much of an admitted message travels behind its head, three eighths of it at most: enough to keep
    /// the link busy while the head's arrival is told and the next message is admitted. 0: none.
    std::size_t tail_bytes = 0;
    /// The blocks that two ranks exchange in one step are one message, or, where they are more than this,
    /// several of whole blocks; 0: one. One at a time leaves both directions of a link alone, and lets blocks
    /// be sent on before those behind them are in. A library whose rendezvous needs answers lets these queue
    /// behind the data that goes the other way between the same two ranks; short messages go without.
    std::size_t longest_elements = 0;
    /// Of the messages that are admitted in general, those of at most this many elements are not: the blocks
    /// of a pipeline, which pass in less time than admission takes. `unadmitted` of them may be under way.
    std::size_t unadmitted_elements = 0;
    int unadmitted = 8;
};

/// One rank's share of a schedule, compiled for execution: transfers of equal (step, peer) are one message,
/// cut where the windows say, empty blocks are left out, and for each block the order of what happens to it
/// here is known. Plans keep it.
struct message_program {
    struct block_use {
        int block;
        /// What comes before this on this rank: in a reduction the number of sends and receives of the block,
        /// in a dissemination the number of its receives.
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

        [[nodiscard]] auto uses_of(message const& m) const -> std::span<block_use const> {
            return std::span(uses).subspan(static_cast<std::size_t>(m.first_use),
                                           static_cast<std::size_t>(m.use_count));
        }
    };

    schedule_kind kind = schedule_kind::reduction;
    /// Where the blocks lie in the user's data.
    std::vector<block_range> blocks;
    /// Per block: whether its result belongs to this rank (reduction), or this rank has it at first.
    std::vector<bool> owned;
    side sends, receives;
    message_windows windows;

    [[nodiscard]] auto size(int block) const -> std::size_t {
        return blocks[static_cast<std::size_t>(block)].size;
    }
    [[nodiscard]] auto offset(int block) const -> std::size_t {
        return blocks[static_cast<std::size_t>(block)].offset;
    }
    [[nodiscard]] auto is_owned(int block) const -> bool { return owned[static_cast<std::size_t>(block)]; }
};

namespace detail {

/// One side of a program, and the step of each use.
struct compiled_side {
    message_program::side side;
    std::vector<step_type> steps;
};

/// Groups the transfers into messages. Both ends list the blocks of a message in ascending order, so both cut
/// it at the same places.
inline auto group_messages(std::vector<rank_transfer> transfers, std::vector<block_range> const& blocks,
                           std::size_t longest) -> compiled_side {
    if (!std::is_sorted(transfers.begin(), transfers.end())) std::sort(transfers.begin(), transfers.end());
    compiled_side result;
    auto& side = result.side;
    side.uses.reserve(transfers.size());
    result.steps.reserve(transfers.size());
    rank_transfer const* previous = nullptr;
    for (auto const& t : transfers) {
        std::size_t const size = blocks[static_cast<std::size_t>(t.block)].size;
        if (size == 0) continue;
        bool const full =
            longest > 0 && !side.messages.empty() && side.messages.back().elements + size > longest;
        if (previous == nullptr || previous->step != t.step || previous->peer != t.peer || full)
            side.messages.push_back({t.peer, static_cast<int>(side.uses.size()), 0, 0});
        side.uses.push_back({t.block, 0});
        result.steps.push_back(t.step);
        ++side.messages.back().use_count;
        side.messages.back().elements += size;
        previous = &t;
    }
    return result;
}

inline void check_blocks(rank_schedule const& share, std::size_t blocks) {
    for (auto const* list : {&share.sends, &share.receives})
        for (auto const& t : *list)
            if (t.block < 0 || static_cast<std::size_t>(t.block) >= blocks)
                throw std::invalid_argument(
                    "papcoll: the schedule names a block that the problem does not have");
}

/// Calls f(use, step, is_send) in the order of the steps.
template <class F>
void for_each_use(compiled_side& sends, compiled_side& receives, F f) {
    for (std::size_t s = 0, r = 0; s < sends.steps.size() || r < receives.steps.size();) {
        bool const send =
            r == receives.steps.size() || (s < sends.steps.size() && sends.steps[s] < receives.steps[r]);
        if (send)
            f(sends.side.uses[s], sends.steps[s], true);
        else
            f(receives.side.uses[r], receives.steps[r], false);
        ++(send ? s : r);
    }
}

/// In a reduction everything that happens to a block is in order.
inline void number_turns_of_reduction(compiled_side& sends, compiled_side& receives,
                                      std::size_t block_count) {
    struct last_use {
        int turns = 0;
        step_type step = 0;
        bool send = false;
    };
    std::vector<last_use> blocks(block_count);
    for_each_use(sends, receives, [&](message_program::block_use& use, step_type step, bool send) {
        auto& last = blocks[static_cast<std::size_t>(use.block)];
        if (last.turns > 0 && last.step == step && last.send != send)
            throw std::invalid_argument("papcoll: the schedule sends and receives a block in one step");
        use.turn = last.turns;
        last = {last.turns + 1, step, send};
    });
}

/// In a dissemination a block arrives once, unless it is there at first, and may then be sent at any time.
inline void number_turns_of_dissemination(compiled_side& sends, compiled_side& receives,
                                          std::vector<bool> const& owned) {
    struct arrival {
        bool there = false;
        step_type step = 0;
    };
    std::vector<arrival> blocks(owned.size());
    for_each_use(sends, receives, [&](message_program::block_use& use, step_type step, bool send) {
        auto const b = static_cast<std::size_t>(use.block);
        if (!send) {
            if (owned[b] || blocks[b].there)
                throw std::invalid_argument("papcoll: the schedule delivers a block where it is already");
            blocks[b] = {true, step};
            return;
        }
        if (!owned[b] && (!blocks[b].there || blocks[b].step == step))
            throw std::invalid_argument("papcoll: the schedule sends a block before the rank has it");
        use.turn = owned[b] ? 0 : 1;
    });
}

} // namespace detail

/// Compiles a share. Throws std::invalid_argument for a block that does not exist, or that this rank both
/// sends and receives in one step; in a dissemination also for one that is delivered twice, or sent before it
/// is there.
inline auto compile(schedule_kind kind, rank_schedule const& share, std::vector<block_range> blocks,
                    std::vector<bool> owned, message_windows const& windows) -> message_program {
    detail::check_blocks(share, blocks.size());
    auto sends = detail::group_messages(share.sends, blocks, windows.longest_elements);
    auto receives = detail::group_messages(share.receives, blocks, windows.longest_elements);
    if (kind == schedule_kind::reduction)
        detail::number_turns_of_reduction(sends, receives, blocks.size());
    else
        detail::number_turns_of_dissemination(sends, receives, owned);
    return {kind,   std::move(blocks), std::move(owned), std::move(sends.side), std::move(receives.side),
            windows};
}

} // namespace papcoll::inline v0
