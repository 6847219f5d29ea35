// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/detail/impl.hpp>
#include <papcoll/policy/circulant_choice.hpp>
#include <papcoll/policy/linear.hpp>
#include <papcoll/policy/members.hpp>
#include <papcoll/policy/plan_writer.hpp>
#include <papcoll/policy/sorted_linear.hpp>
#include <papcoll/program/block_program.hpp>
#include <papcoll/program/triggered_gather.hpp>
#include <papcoll/schedule/sort_by_time.hpp>
#include <papcoll/scheduler/circulant.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

/// Every rank sends its part to the root, at once. There each receive that is posted costs time whenever a
/// message is looked for, so that they are not all posted together.
inline void add_linear_gather(plan_writer& plan, call_shape const& shape) {
    constexpr int most_awaited = 64;
    rank_schedule share;
    for (int rank = 0; rank < shape.ranks; ++rank) {
        if (rank == shape.root) continue;
        if (shape.rank == shape.root) share.receives.push_back({0, rank, rank});
        if (shape.rank == rank) share.sends.push_back({0, shape.root, rank});
    }
    plan.add(schedule_kind::dissemination, share, layout_of_ranks(shape),
             {.receives = std::clamp(shape.ranks - 1, 1, most_awaited), .sends = 1, .admission = false});
}

/// The root sends each rank its part, the next ranks first. None waits for another.
inline void add_linear_scatter(plan_writer& plan, call_shape const& shape) {
    auto& to = plan.builder();
    to.use({.receives = 1, .sends = std::max(shape.ranks - 1, 1), .admission = false});
    if (shape.rank != shape.root) {
        if (plan.own_part().size() > 0) to.receive(shape.root, plan.own_part());
        return;
    }
    auto const parts = rank_ranges(shape);
    for (int i = 1; i < shape.ranks; ++i) {
        int const rank = (shape.root + i) % shape.ranks;
        auto const& part = parts[static_cast<std::size_t>(rank)];
        if (part.size > 0) to.send(rank, region(memory::in, part.offset, part.size));
    }
}

/// The parts of the ranks as blocks of a broadcast of about equal size: a long part is cut, and several short
/// ones in a row go together, not too many of them.
struct grouped_parts {
    block_layout layout;
    std::vector<int> first; ///< of each block of the broadcast, the first block of the layout; and the end

    grouped_parts(call_shape const& shape, int wanted)
        : layout(layout_of_ranks(shape, [longest = share_of(shape, wanted)](std::size_t part) {
            return blocks_for(part, longest);
        })) {
        auto const each = share_of(shape, shape.ranks); // what even an empty part counts
        std::size_t room = 0;
        for (std::size_t b = 0; b < layout.ranges.size(); ++b) {
            auto const needed = layout.ranges[b].size + each;
            if (first.empty() || needed > room) {
                first.push_back(static_cast<int>(b));
                room = 2 * share_of(shape, wanted);
            }
            room -= std::min(needed, room);
        }
        first.push_back(static_cast<int>(layout.ranges.size()));
    }
    [[nodiscard]] auto count() const -> int { return static_cast<int>(first.size()) - 1; }
    /// The transfers of blocks of the broadcast as those of their parts, but for the parts of `receiver`.
    template <class Receiver>
    [[nodiscard]] auto spelt_out(std::vector<rank_transfer> const& of_groups, Receiver receiver) const
        -> std::vector<rank_transfer> {
        std::vector<rank_transfer> result;
        for (auto const& t : of_groups)
            for (int b = first[index(t.block)]; b < first[index(t.block) + 1]; ++b)
                if (layout.owners[index(b)] != receiver(t)) result.push_back({t.step, t.peer, b});
        return result;
    }

private:
    static auto index(int i) -> std::size_t { return static_cast<std::size_t>(i); }
    static auto share_of(call_shape const& shape, int shares) -> std::size_t {
        return std::max<std::size_t>(block_partition{shape.count, shares}.largest(), 1);
    }
};

/// Into how many blocks the broadcast behind a gather is cut: what the link asks for, as far as there is room
/// in the plan. That has a receive of each part in the gather, and names it up to four times in the
/// broadcast; of many parts no more often where there are as many blocks as rounds.
[[nodiscard]] inline auto blocks_behind_gather(call_shape const& shape, link_model const& link) -> int {
    call_shape whole = shape;
    whole.operation = collective_kind::broadcast;
    constexpr std::size_t each_part = program_bytes::message + 5 * program_bytes::use;
    constexpr std::size_t each_block = 2 * (program_bytes::message + program_bytes::use);
    auto const parts = std::min(static_cast<std::size_t>(shape.ranks) * each_part, half_limit(shape));
    auto const room = (half_limit(shape) - parts) / each_block;
    int const least = shape.ranks < 500 ? 1 : circulant_skips(shape.ranks).rounds();
    // Parts that just miss to fit into a block make up to twice as many.
    auto const most = static_cast<int>(std::clamp<std::size_t>(room / 2, 1, std::size_t(1) << 20));
    return std::clamp(choose_circulant_blocks(whole, link, std::nullopt), least, std::max(least, most));
}

/// The root, which has all parts, broadcasts them by circulant_scheduler; nobody gets its own part back.
inline void add_broadcast_of_parts(plan_writer& plan, call_shape const& shape, link_model const& link) {
    grouped_parts parts(shape, blocks_behind_gather(shape, link));
    problem const p{.ranks = shape.ranks, .root = shape.root, .blocks = parts.count()};
    auto const of_groups = circulant_scheduler{}.for_rank(p, shape.rank);
    rank_schedule const share{
        .sends = parts.spelt_out(of_groups.sends, [](rank_transfer const& t) { return t.peer; }),
        .receives = parts.spelt_out(of_groups.receives, [&](rank_transfer const&) { return shape.rank; })};
    auto owned = parts.layout.owned_by(shape);
    if (shape.rank == shape.root) owned.assign(owned.size(), true);
    auto const block = shape.bytes() / static_cast<std::size_t>(parts.count());
    plan.spread_out(share, parts.layout.ranges, std::move(owned), windows_for(block, shape, link));
}

} // namespace detail

PAPCOLL_IMPL auto linear::plan(call_shape const& shape, link_model const& link) const -> program {
    plan_writer plan(shape);
    if (shape.operation == collective_kind::scatter) {
        detail::add_linear_scatter(plan, shape);
        return plan.finish();
    }
    detail::add_linear_gather(plan, shape);
    if (shape.operation == collective_kind::all_gather) detail::add_broadcast_of_parts(plan, shape, link);
    return plan.finish();
}

namespace detail {

/// The other ranks in the order in which the root asks them.
[[nodiscard]] inline auto order_of_arrival(call_shape const& shape, std::span<ticks const> times)
    -> std::vector<int> {
    std::vector<int> ranks(static_cast<std::size_t>(shape.ranks));
    std::iota(ranks.begin(), ranks.end(), 0);
    std::erase(ranks, shape.root);
    sort_by_time(ranks, times);
    return ranks;
}

} // namespace detail

PAPCOLL_IMPL void sorted_linear::check(call_shape const& shape) const {
    detail::check_arrivals(arrivals, shape.ranks);
    if (first_bytes == 0) throw std::invalid_argument("papcoll: first_bytes must be at least 1, but are 0");
}
PAPCOLL_IMPL auto sorted_linear::fingerprint() const -> std::optional<std::vector<std::int64_t>> {
    return detail::arrivals_key(arrivals, {static_cast<std::int64_t>(first_bytes)});
}
PAPCOLL_IMPL auto sorted_linear::plan(call_shape const& shape, link_model const& link) const -> program {
    plan_writer plan(shape);
    auto const parts = rank_ranges(shape);
    auto const part_of = [&](int rank) {
        auto const& part = parts[static_cast<std::size_t>(rank)];
        return region(memory::out, part.offset, part.size);
    };
    triggered_gather parts_of_ranks(plan.builder(),
                                    std::max<std::size_t>(first_bytes / shape.element_bytes, 1));
    if (shape.rank != shape.root) {
        if (plan.own_part().size() > 0) parts_of_ranks.answer(shape.root, plan.own_part());
    } else {
        for (int const rank : detail::order_of_arrival(shape, arrivals.times()))
            if (part_of(rank).size() > 0) parts_of_ranks.ask(rank, part_of(rank));
    }
    if (shape.operation == collective_kind::all_gather) detail::add_broadcast_of_parts(plan, shape, link);
    return plan.finish();
}

} // namespace papcoll::inline v0
