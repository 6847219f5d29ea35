// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/link_model.hpp>
#include <papcoll/policy/call_shape.hpp>
#include <papcoll/policy/plan_size.hpp>
#include <papcoll/program/program.hpp>
#include <papcoll/scheduler/scheduler.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// How a user says which algorithm a collective takes: a small value. For `P const p`, `call_shape const
/// shape`, `link_model const link`:
///
///  1. `P::provides(collective_kind)` is a constant expression: whether the policy has plans for it.
///  2. `P::reorders_operands` is false when the plans of reductions combine in rank order: then operators
///     need not be commutative. Where that depends on the collective, `P::reorders_operands_of(
///     collective_kind)`, a constant expression that counts in its place, says so.
///  3. `p.name()` is the name of the algorithm.
///  4. `p.check(shape)` throws std::invalid_argument, naming the member, for invalid values.
///  5. `p.fingerprint()` returns numbers equal for equal policies and different for others; empty when the
///     policy cannot tell, and its plans are then not kept for the next call.
///  6. `p.plan(shape, link)` returns this rank's program, as a function of its arguments alone, so that the
///     messages of all ranks fit together. See program_builder, and verify.
///
/// A policy that plans by an `arrival_source` names it: by a member variable `arrivals` of this type, or,
/// where it keeps it elsewhere, as one that wraps another policy does, by a member function
/// `p.pending_arrivals()` that returns it. Calls wait for what it names before they plan. Without that, a
/// policy which asks a source of an arrival_monitor may get std::logic_error from it: nothing is waited for
/// while a plan is made.
template <class P>
concept block_policy = requires(P const& p, call_shape const& shape, link_model const& link) {
    requires std::copyable<P>;
    requires std::bool_constant<P::provides(collective_kind::reduce) || true>::value;
    requires std::is_same_v<decltype(P::reorders_operands), bool const>;
    { p.name() } -> std::convertible_to<std::string_view>;
    p.check(shape);
    { p.fingerprint() } -> std::same_as<std::optional<std::vector<std::int64_t>>>;
    { p.plan(shape, link) } -> std::same_as<program>;
};

namespace detail {

/// Whether plans of this collective may combine in another order than that of the ranks.
template <class P>
[[nodiscard]] constexpr auto may_reorder([[maybe_unused]] collective_kind operation) -> bool {
    if constexpr (requires { P::reorders_operands_of(operation); })
        return P::reorders_operands_of(operation);
    else
        return P::reorders_operands;
}

/// Messages of a few kilobytes are buffered by any MPI library, and admission would cost more than it saves.
inline constexpr std::size_t shortest_admitted_bytes = std::size_t(8) << 10;

/// Whether a message is that short, or travels no longer than the round trip of its admission.
[[nodiscard]] inline auto goes_unasked(std::size_t message_bytes, link_model const& link) -> bool {
    double const time = static_cast<double>(message_bytes) * link.per_byte;
    return message_bytes < shortest_admitted_bytes || time < 2 * static_cast<double>(link.latency.count());
}

/// How long messages are at most: so long that their latencies do not count, and below what libraries send by
/// rendezvous on slow links.
[[nodiscard]] inline auto longest_message(link_model const& link) -> std::size_t {
    double const latencies = 32 * static_cast<double>(link.latency.count()) / std::max(link.per_byte, 1e-3);
    return std::max(static_cast<std::size_t>(std::min(latencies, 1e9)), std::size_t(32) << 10);
}
/// However long the data is, it is cut into no more pieces than this.
inline constexpr std::size_t most_pieces = std::size_t(1) << 18;

/// For messages of about this size. Three eighths behind the head: measured on an emulated cluster, between
/// an eighth and a half all do; long messages need no more than covers a round trip.
[[nodiscard]] inline auto windows_for(std::size_t message_bytes, call_shape const& shape,
                                      link_model const& link) -> message_windows {
    if (goes_unasked(message_bytes, link))
        return {.receives = 8, .sends = 8, .admission = false, .tail_bytes = 0, .longest_elements = 0};
    return {.receives = 1,
            .sends = 1,
            .admission = true,
            .tail_bytes = std::size_t(32) << 10,
            .longest_elements = std::max(
                {longest_message(link) / shape.element_bytes, shape.count / most_pieces, std::size_t(1)})};
}
/// The same for rounds of which each needs the one before: messages of one round hardly meet those of the
/// next, and admissions queue behind the data that goes the other way. So admission pays only where a message
/// takes many latencies, or where libraries ask themselves before they send it. Measured between 7, 8 and 11
/// emulated hosts; from rest admission of 16 KiB cost as much as the call. Where a message takes a notable
/// time, receives are posted one by one: what early ranks have for later rounds of a late one would share its
/// link with the first round.
[[nodiscard]] inline auto windows_of_dependent_rounds(std::size_t message_bytes, call_shape const& shape,
                                                      link_model const& link) -> message_windows {
    double const time = static_cast<double>(message_bytes) * link.per_byte;
    auto const latency = static_cast<double>(link.latency.count());
    bool const is_short = time < 16 * latency && message_bytes < std::size_t(64) << 10;
    auto windows = windows_for(is_short ? 0 : message_bytes, shape, link);
    if (time > latency / 4) windows.receives = 1;
    return windows;
}

/// The data cut into blocks, and who owns each; without owners the root owns all.
struct block_layout {
    std::vector<block_range> ranges;
    std::vector<int> owners;

    [[nodiscard]] auto owned_by(call_shape const& shape) const -> std::vector<bool> {
        std::vector<bool> owned(ranges.size(), shape.rank == shape.root);
        for (std::size_t b = 0; b < owners.size(); ++b) owned[b] = owners[b] == shape.rank;
        return owned;
    }
    [[nodiscard]] auto longest() const -> std::size_t {
        std::size_t most = 0;
        for (auto const& r : ranges) most = std::max(most, r.size);
        return most;
    }
};

/// Everything belongs to the root.
[[nodiscard]] inline auto layout_of_root(call_shape const& shape, int blocks) -> block_layout {
    return {ranges_of({shape.count, blocks}), {}};
}
/// Each rank's part is cut into so many blocks as `blocks_of(elements)` says, at least one.
template <class BlocksOf>
[[nodiscard]] auto layout_of_ranks(call_shape const& shape, BlocksOf const& blocks_of) -> block_layout {
    auto const parts = rank_ranges(shape);
    long long all = 0;
    for (auto const& part : parts) all += blocks_of(part.size);
    require(all <= std::numeric_limits<int>::max(), "the blocks of all ranks must be numbered by int", all);
    block_layout layout;
    layout.ranges.reserve(static_cast<std::size_t>(all));
    layout.owners.reserve(static_cast<std::size_t>(all));
    int owner = 0;
    for (auto const& part : parts) {
        block_partition const blocks{part.size, blocks_of(part.size)};
        for (int b = 0; b < blocks.blocks; ++b) {
            layout.ranges.push_back({part.offset + blocks.offset(b), blocks.size(b)});
            layout.owners.push_back(owner);
        }
        ++owner;
    }
    return layout;
}
/// Each rank's part is one block.
[[nodiscard]] inline auto layout_of_ranks(call_shape const& shape) -> block_layout {
    return layout_of_ranks(shape, [](std::size_t) { return 1; });
}

} // namespace detail

} // namespace papcoll::inline v0
