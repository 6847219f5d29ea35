// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/policy/members.hpp>
#include <papcoll/policy/policy.hpp>
#include <papcoll/schedule/problem.hpp>
#include <papcoll/scheduler/reversed.hpp>
#include <papcoll/scheduler/scheduler.hpp>
#include <papcoll/scheduler/scheduler_ref.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <vector>

namespace papcoll::inline v0 {

namespace detail {

template <scheduler S>
inline constexpr bool reorders_operands = true;
template <scheduler S>
requires requires { requires S::keeps_rank_order; }
inline constexpr bool reorders_operands<S> = false;

/// The plan of a scheduler, and where a reduction is followed by the way back, of the one reversed.
[[nodiscard]] auto scheduled_plan(call_shape const& shape, link_model const& link,
                                  std::optional<int> segments, std::span<ticks const> arrivals,
                                  scheduler_ref algorithm, std::optional<scheduler_ref> back) -> program;

} // namespace detail

/// A policy from any scheduler, for all collectives of its kind: a reduction scheduler reduces and, with the
/// ranks as owners, reduce-scatters; a dissemination scheduler broadcasts and all-gathers. All-reduce is a
/// reduction to the root and, `reversed`, the way back. A scheduler alone, given as the policy of a call,
/// means `scheduled` with the defaults. Operators must be commutative unless the scheduler has `static
/// constexpr bool keeps_rank_order = true`.
template <scheduler S>
struct scheduled {
    /// The scheduler.
    S algorithm = {};
    /// Into how many blocks the data is cut, or each rank's part of it; default: of about 64 KiB each, at
    /// most 256, and no more than plan_limit(P) has room for when each is sent and received once; of
    /// all-reduces no more than 2^20 of all ranks.
    std::optional<int> segments = {};
    /// When each rank arrives; none given: all together.
    arrival_source arrivals = {};

    static_assert(
        detail::told_scheduler<S> || !requires(S const& s) { s.fingerprint(); },
        "papcoll: the fingerprint() of a scheduler is const and returns std::vector<std::int64_t>");
    static constexpr bool reorders_operands = detail::reorders_operands<S>;
    static constexpr auto provides(collective_kind operation) -> bool {
        bool const reduces = operation == collective_kind::reduce ||
                             operation == collective_kind::reduce_scatter ||
                             operation == collective_kind::all_reduce;
        return detail::blocks_provide(operation) && reduces == (S::kind == schedule_kind::reduction);
    }

    /// The scheduler's `name`, if it has one.
    [[nodiscard]] auto name() const -> std::string_view {
        if constexpr (requires { std::string_view(S::name); })
            return S::name;
        else
            return typeid(S).name();
    }
    void check(call_shape const& shape) const {
        detail::check_arrivals(arrivals, shape.ranks);
        detail::check_segments(segments);
    }
    /// Complete, and plans are kept, for schedulers without members and those that have a fingerprint.
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        if constexpr (detail::told_scheduler<S>)
            return agreement_key();
        else
            return std::nullopt;
    }
    /// What can be compared between ranks.
    [[nodiscard]] auto agreement_key() const -> std::vector<std::int64_t> {
        auto key = detail::arrivals_key(arrivals, {segments.value_or(0)});
        if constexpr (detail::told_scheduler<S>) {
            auto const own = detail::fingerprint_of(algorithm);
            key.insert(key.end(), own.begin(), own.end());
        }
        return key;
    }
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program {
        if constexpr (S::kind == schedule_kind::reduction)
            return detail::scheduled_plan(shape, link, segments, arrivals.times(), algorithm,
                                          reversed(algorithm));
        else
            return detail::scheduled_plan(shape, link, segments, arrivals.times(), algorithm, {});
    }
};

} // namespace papcoll::inline v0

#ifndef PAPCOLL_SEPARATE_COMPILATION
#include <papcoll/policy/impl/scheduled.hpp>
#endif
