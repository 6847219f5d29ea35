// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/plan_writer.hpp>
#include <papcoll/policy/policy.hpp>
#include <papcoll/program/block_program.hpp>
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
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool {
        return operation == collective_kind::gather;
    }

    [[nodiscard]] auto name() const -> std::string_view { return "binomial_gather"; }
    void check(call_shape const&) const {}
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return std::vector<std::int64_t>{};
    }
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program {
        auto share = binomial_gather_share(shape.ranks, shape.root, shape.rank);
        auto const held = number_held(share, shape.rank);
        plan_writer plan(shape);
        auto const places = places_of(held, plan, shape);
        plan.builder().use(detail::windows_of_dependent_rounds(shape.bytes() / 2, shape, link));
        lower(plan.builder(), schedule_kind::dissemination, share, shape.rank, places);
        return plan.finish();
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
    /// At the root where the user wants them. Elsewhere those of others lie one behind the other in scratch
    /// memory.
    static auto places_of(std::vector<int> const& held, plan_writer& plan, call_shape const& shape)
        -> block_places {
        auto const parts = rank_ranges(shape);
        std::size_t others = 0;
        for (int const rank : held)
            others += rank != shape.rank && shape.rank != shape.root ? parts[index(rank)].size : 0;
        auto const scratch = plan.builder().scratch(others);
        block_places places{std::vector<region>(held.size()), std::vector<region>(held.size()),
                            std::vector<bool>(held.size())};
        std::size_t next = 0;
        for (std::size_t b = 0; b < held.size(); ++b) {
            auto const& part = parts[index(held[b])];
            if (held[b] == shape.rank) {
                places.owned[b] = true;
                places.held[b] = plan.own_part();
            } else if (shape.rank == shape.root) {
                places.result[b] = {memory::out, part.offset, part.size};
            } else {
                places.result[b] = scratch.part(next, part.size);
                next += part.size;
            }
        }
        return places;
    }
    static auto index(int rank) -> std::size_t { return static_cast<std::size_t>(rank); }
};

} // namespace papcoll::inline v0
