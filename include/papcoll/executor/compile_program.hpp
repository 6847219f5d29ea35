// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/message_program.hpp>
#include <papcoll/executor/program_pieces.hpp>
#include <papcoll/schedule/block_partition.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// One side of a program, and the step of each use.
struct compiled_side {
    message_program::side side;
    std::vector<step_type> steps;
};

/// Groups the transfers into messages. Both ends list the blocks of a message in ascending order.
inline auto group_messages(std::vector<rank_transfer> transfers, std::vector<block_range> const& blocks)
    -> compiled_side {
    if (!std::is_sorted(transfers.begin(), transfers.end())) std::sort(transfers.begin(), transfers.end());
    compiled_side result;
    auto& side = result.side;
    side.uses.reserve(transfers.size());
    result.steps.reserve(transfers.size());
    rank_transfer const* previous = nullptr;
    for (auto const& t : transfers) {
        std::size_t const size = blocks[static_cast<std::size_t>(t.block)].size;
        if (size == 0) continue;
        if (previous == nullptr || previous->step != t.step || previous->peer != t.peer)
            side.messages.push_back({t.peer, static_cast<int>(side.uses.size()), 0, 0});
        side.uses.push_back({t.block, 0});
        result.steps.push_back(t.step);
        ++side.messages.back().use_count;
        side.messages.back().elements += size;
        previous = &t;
    }
    side.messages.shrink_to_fit();
    side.uses.shrink_to_fit();
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

/// compile() without cutting anything.
[[nodiscard]] inline auto compile_uncut(schedule_kind kind, rank_schedule const& share,
                                        std::vector<block_range> blocks, std::vector<bool> owned,
                                        message_windows const& windows) -> message_program {
    check_blocks(share, blocks.size());
    blocks.shrink_to_fit();
    auto sends = group_messages(share.sends, blocks);
    auto receives = group_messages(share.receives, blocks);
    if (kind == schedule_kind::reduction)
        number_turns_of_reduction(sends, receives, blocks.size());
    else
        number_turns_of_dissemination(sends, receives, owned);
    return {kind,   std::move(blocks), std::move(owned), std::move(sends.side), std::move(receives.side),
            windows};
}

} // namespace detail

/// Compiles a share. Throws std::invalid_argument for a block that does not exist, or that this rank both
/// sends and receives in one step; in a dissemination also for one that is delivered twice, or sent before it
/// is there.
[[nodiscard]] inline auto compile(schedule_kind kind, rank_schedule const& share,
                                  std::vector<block_range> blocks, std::vector<bool> owned,
                                  message_windows const& windows) -> message_program {
    return detail::with_cut_messages(
        detail::compile_uncut(kind, share, std::move(blocks), std::move(owned), windows));
}

} // namespace papcoll::inline v0
