// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/link_model.hpp>
#include <papcoll/executor/message_program.hpp>
#include <papcoll/scheduler/scheduler.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

namespace papcoll::inline v0 {

/// The shape of a call: what policies may look at. The same on all ranks but for `rank`.
struct call_shape {
    int ranks = 1;
    int rank = 0;
    int root = 0;
    std::size_t count = 0;
    std::size_t element_bytes = 1;

    [[nodiscard]] auto bytes() const -> std::size_t { return count * element_bytes; }
};

/// How a user says which algorithm a collective takes: a small value. For `P const p`, `call_shape const
/// shape`, `link_model const link`:
///
///  1. `P::kind` is the schedule_kind of its plans.
///  2. `P::reorders_operands` is false when the plans of a reduction combine in rank order: then operators
///  need
///     not be commutative.
///  3. `p.name()` is the name of the algorithm.
///  4. `p.check(shape)` throws std::invalid_argument, naming the member, for values that cannot be.
///  5. `p.fingerprint()` returns numbers equal for equal policies and different for others; empty when the
///     policy cannot tell, and its plans are then not kept for the next call.
///  6. `p.plan(shape, link)` returns this rank's share, compiled, as a function of its arguments alone, so
///  that
///     all ranks plan the same.
template <class P>
concept block_policy = std::copyable<P> &&
    requires(P const& p, call_shape const& shape, link_model const& link) {
    requires std::same_as<std::remove_cv_t<decltype(P::kind)>, schedule_kind>;
    requires std::same_as < std::remove_cv_t<decltype(P::reorders_operands)>,
    bool > ;
    { p.name() } -> std::convertible_to<std::string_view>;
    p.check(shape);
    { p.fingerprint() } -> std::same_as<std::optional<std::vector<std::int64_t>>>;
    { p.plan(shape, link) } -> std::same_as<message_program>;
};

namespace detail {

template <scheduler S>
inline constexpr bool reorders_operands = true;
template <scheduler S>
requires requires { requires S::keeps_rank_order; }
inline constexpr bool reorders_operands<S> = false;

/// Blocks of a few kilobytes are buffered by any MPI library, and admission would cost more than it saves.
inline constexpr std::size_t shortest_admitted_bytes = std::size_t(8) << 10;

/// Three eighths of a block behind its head: measured on an emulated cluster, between an eighth and a half
/// all do.
[[nodiscard]] inline auto windows_for(std::size_t block_bytes) -> message_windows {
    if (block_bytes < shortest_admitted_bytes)
        return {.receives = 8, .sends = 8, .admission = false, .tail_bytes = 0};
    return {.receives = 1, .sends = 1, .admission = true, .tail_bytes = block_bytes / 8 * 3};
}

/// The plan of a share with a single owner, the root.
[[nodiscard]] inline auto plan_of(rank_schedule const& share, call_shape const& shape, int blocks)
    -> message_program {
    block_partition const partition{shape.count, blocks};
    return compile(share, partition,
                   std::vector<bool>(static_cast<std::size_t>(blocks), shape.rank == shape.root),
                   windows_for(partition.largest() * shape.element_bytes));
}

} // namespace detail

} // namespace papcoll::inline v0
