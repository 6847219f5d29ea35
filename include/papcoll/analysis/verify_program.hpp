// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis/detail/access_order.hpp>
#include <papcoll/analysis/detail/message_pairs.hpp>
#include <papcoll/analysis/detail/program_form.hpp>
#include <papcoll/analysis/detail/symbolic_execution.hpp>
#include <papcoll/analysis/promise.hpp>
#include <papcoll/program/program.hpp>
#include <papcoll/program/program_builder.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// The form of one rank's program, and what it does with its memory.
[[nodiscard]] inline auto verify_alone(program const& p, int rank, promise const& promised)
    -> std::optional<std::string> {
    auto const ranks = static_cast<int>(promised.ranks.size());
    auto const& mine = promised.ranks[static_cast<std::size_t>(rank)];
    if (auto violation = program_form(p, rank, ranks, mine).check()) return violation;
    if (p.uncut) return {};
    return access_order(p, rank, mine).check();
}

} // namespace detail

/// Verifies the programs of all ranks, rank 0 first: nullopt if they keep the promise whatever the timing,
/// else the first violation in words, which name the rank, the instruction by its number, and what is wrong.
/// Uncut programs are cut first, and the numbers are then those of in_pieces().
///
///  1. Each program is well-formed: waits go backwards, regions are within their memory, ranks exist.
///  2. Its result does not depend on timing: what touches the same memory, with a write among it, is ordered
///  by waits, and on different ranks of a node by posts and awaits. Nothing is read before it is there. `in`
///  is not written, and of `out` only what the collective may write.
///  3. The k-th message from one rank to another meets the k-th receive there, of the same size, cut and
///  admitted alike; none is left over.
///  4. It ends if each rank takes one instruction after the other, but begins receives as early as it may,
///  with windows of one message and sends that end only with their receives; and so in any other way.
///  5. At the end each part of `out` is what was promised: contributions of the right ranks and elements, or
///  their combinations, each contribution once; in the order of ranks, and in the same bits on all ranks,
///  where that is promised.
///  6. Of a barrier: no rank ends before all have begun.
///
/// Memory is looked at in stretches, so that the number of elements does not count. Cost for n regions, waits
/// and instructions of all ranks: O(n log n) time where waits are direct, as program_builder finds them, and
/// P bits for each different combination.
[[nodiscard]] inline auto verify(std::span<program const> programs, promise const& promised)
    -> std::optional<std::string> {
    if (programs.size() != promised.ranks.size())
        return "there are " + std::to_string(programs.size()) + " programs for " +
               std::to_string(promised.ranks.size()) + " ranks";
    auto const ranks = static_cast<int>(programs.size());
    for (int rank = 0; rank < ranks; ++rank)
        if (auto violation = detail::verify_alone(programs[static_cast<std::size_t>(rank)], rank, promised))
            return violation;
    auto const is_free = [](program const& p) { return !p.any_orders.empty(); };
    if (promised.in_rank_order && std::any_of(programs.begin(), programs.end(), is_free))
        return "operands are combined in any order, but the order of ranks was promised";
    auto const is_uncut = [](program const& p) { return p.uncut; };
    if (std::any_of(programs.begin(), programs.end(), is_uncut)) {
        std::vector<program> cut;
        for (auto const& p : programs) cut.push_back(p.uncut ? in_pieces(p) : p);
        return verify(cut, promised);
    }
    detail::message_pairs pairs(programs);
    if (auto violation = pairs.pair()) return violation;
    detail::node_groups const groups(programs);
    for (std::size_t rank = 0; rank < programs.size(); ++rank)
        if (auto violation = groups.check(programs, rank)) return violation;
    return detail::symbolic_execution(programs, promised, pairs, groups).run();
}

} // namespace papcoll::inline v0
