// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/compile_program.hpp>
#include <papcoll/executor/message_program.hpp>
#include <papcoll/executor/program_pieces.hpp>
#include <papcoll/schedule/block_partition.hpp>
#include <papcoll/schedule/rank_schedule.hpp>
#include <papcoll/schedule/transfer.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The turn of uses that move a result, in a program of two halves: sends of it wait until the block is
/// complete here, receives bring it.
inline constexpr int turn_of_result = -1;

[[nodiscard]] inline auto moves_result(std::span<message_program::block_use const> uses) -> bool {
    return uses.front().turn == turn_of_result;
}

/// A block may be spread in larger steps than those in which it is reduced here.
inline void check_order(compiled_side const& operands, compiled_side const& results,
                        std::size_t block_count) {
    std::vector<step_type> first(block_count, std::numeric_limits<step_type>::max());
    for (std::size_t i = 0; i < results.steps.size(); ++i) {
        auto& step = first[static_cast<std::size_t>(results.side.uses[i].block)];
        step = std::min(step, results.steps[i]);
    }
    for (std::size_t i = 0; i < operands.steps.size(); ++i)
        if (operands.steps[i] >= first[static_cast<std::size_t>(operands.side.uses[i].block)])
            throw std::invalid_argument("papcoll: the schedule spreads a block before it is complete");
}

/// Both halves' messages in the order of their steps, operands first. Both ends of a pair of ranks find the
/// same order.
[[nodiscard]] inline auto merge(compiled_side const& operands, compiled_side const& results)
    -> message_program::side {
    message_program::side merged;
    merged.messages.reserve(operands.side.messages.size() + results.side.messages.size());
    merged.uses.reserve(operands.side.uses.size() + results.side.uses.size());
    auto const step_of = [](compiled_side const& half, std::size_t message) {
        return half.steps[static_cast<std::size_t>(half.side.messages[message].first_use)];
    };
    auto const append = [&](compiled_side const& half, std::size_t message) {
        auto m = half.side.messages[message];
        auto const uses = half.side.uses_of(m);
        m.first_use = static_cast<int>(merged.uses.size());
        merged.messages.push_back(m);
        merged.uses.insert(merged.uses.end(), uses.begin(), uses.end());
    };
    auto const n = operands.side.messages.size();
    auto const m = results.side.messages.size();
    for (std::size_t i = 0, j = 0; i < n || j < m;) {
        bool const operand = j == m || (i < n && step_of(operands, i) <= step_of(results, j));
        append(operand ? operands : results, operand ? i++ : j++);
    }
    return merged;
}

} // namespace detail

/// Compiles a share of two halves with one numbering of steps: a reduction to the owners of the blocks, and a
/// dissemination of the results from there. The messages of both are one list in step order, for
/// spread_operation. Throws std::invalid_argument where compile() does for either half, and for a block that
/// is spread on this rank before its reduction is over here.
[[nodiscard]] inline auto compile_spread(rank_schedule const& reduction, rank_schedule const& dissemination,
                                         std::vector<block_range> blocks, std::vector<bool> owned,
                                         message_windows const& windows) -> message_program {
    auto const group = [&](rank_schedule const& half) {
        detail::check_blocks(half, blocks.size());
        return std::pair{detail::group_messages(half.sends, blocks),
                         detail::group_messages(half.receives, blocks)};
    };
    auto operands = group(reduction);
    auto results = group(dissemination);
    detail::number_turns_of_reduction(operands.first, operands.second, blocks.size());
    detail::number_turns_of_dissemination(results.first, results.second, owned);
    for (auto* half : {&results.first, &results.second}) {
        for (auto& use : half->side.uses) use.turn = detail::turn_of_result;
        detail::check_order(operands.first, *half, blocks.size());
        detail::check_order(operands.second, *half, blocks.size());
    }
    return detail::with_cut_messages({.kind = schedule_kind::reduction,
                                      .blocks = std::move(blocks),
                                      .owned = std::move(owned),
                                      .sends = detail::merge(operands.first, results.first),
                                      .receives = detail::merge(operands.second, results.second),
                                      .windows = windows});
}

} // namespace papcoll::inline v0
