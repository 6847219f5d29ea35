// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/executor/compile_program.hpp>
#include <papcoll/policy/policy.hpp>
#include <papcoll/scheduler/binomial_gather.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// Gather through a binomial tree, for short parts of many ranks: the root receives ⌈log2 P⌉ messages, where
/// `linear` has P − 1. Of m bytes in all: ⌈log2 P⌉ rounds, (P − 1)/P·m at the root.
///
/// An inner rank of the tree keeps the parts of others, at most half of all, in a buffer of papcoll's while
/// the operation is under way, and waits for those ranks; so a late rank delays parts beside its own. See
/// binomial_gather_share.
///
///     papcoll::gather(world, &mine, 1, all, 0, papcoll::binomial_gather{});
struct binomial_gather {
    static constexpr bool reorders_operands = true;
    static constexpr auto provides(collective_kind operation) -> bool {
        return operation == collective_kind::gather;
    }

    [[nodiscard]] auto name() const -> std::string_view { return "binomial_gather"; }
    void check(call_shape const&) const {}
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return std::vector<std::int64_t>{};
    }
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> execution_plan {
        auto share = binomial_gather_share(shape.ranks, shape.root, shape.rank);
        auto const held = number_held(share, shape.rank);
        std::vector<bool> owned(held.size());
        for (std::size_t i = 0; i < held.size(); ++i) owned[i] = held[i] == shape.rank;
        auto ranges = places_of(held, shape);
        std::size_t scratch = 0;
        if (shape.rank != shape.root)
            for (std::size_t i = 0; i < held.size(); ++i) scratch += owned[i] ? 0 : ranges[i].size;

        auto const windows = detail::windows_of_dependent_rounds(shape.bytes() / 2, shape, link);
        auto program = detail::compile_uncut(schedule_kind::dissemination, share, std::move(ranges),
                                             std::move(owned), windows);
        program.scratch = scratch;
        return detail::plan_of(detail::stage_of(detail::with_pieces(
            std::move(program), shape, std::max<std::size_t>(windows.longest_elements, 1))));
    }

    friend auto operator==(binomial_gather const&, binomial_gather const&) -> bool = default;

private:
    /// The ranks whose parts this rank has or gets; the blocks of the share become positions in this list.
    static auto number_held(rank_schedule& share, int rank) -> std::vector<int> {
        std::vector<int> held{rank};
        held.reserve(share.receives.size() + 1);
        for (auto const& t : share.receives) held.push_back(t.block);
        std::sort(held.begin(), held.end());
        for (auto* list : {&share.sends, &share.receives})
            for (auto& t : *list)
                t.block =
                    static_cast<int>(std::lower_bound(held.begin(), held.end(), t.block) - held.begin());
        return held;
    }
    /// At the root where the user wants them. Elsewhere the own part is the user's data, and the others lie
    /// one behind the other in the scratch memory.
    static auto places_of(std::vector<int> const& held, call_shape const& shape) -> std::vector<block_range> {
        auto parts = rank_ranges(shape);
        if (shape.rank == shape.root) return parts;
        std::vector<block_range> places;
        places.reserve(held.size());
        std::size_t next = 0;
        for (int const rank : held) {
            auto const size = parts[static_cast<std::size_t>(rank)].size;
            places.push_back({rank == shape.rank ? 0 : next, size});
            if (rank != shape.rank) next += size;
        }
        return places;
    }
};

} // namespace papcoll::inline v0
