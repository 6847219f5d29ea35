// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/policy/policy.hpp>

#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <typeinfo>

namespace papcoll::inline v0 {

namespace detail {

/// Throws std::invalid_argument unless `arrivals` are absent or one per rank.
inline void check_arrivals(arrival_source const& arrivals, int ranks) {
    if (arrivals.given() && arrivals.times().size() != static_cast<std::size_t>(ranks))
        throw std::invalid_argument("papcoll: arrivals must have one entry per rank (" +
                                    std::to_string(ranks) + "), but have " +
                                    std::to_string(arrivals.times().size()));
}
inline void check_segments(std::optional<int> segments) {
    if (segments && *segments < 1)
        throw std::invalid_argument("papcoll: segments must be at least 1, but are " +
                                    std::to_string(*segments));
}

} // namespace detail

/// A policy from any scheduler. A scheduler alone, given as the policy of a call, means `scheduled` with the
/// defaults. Operators must be commutative unless the scheduler has `static constexpr bool keeps_rank_order =
/// true`.
template <scheduler S>
struct scheduled {
    S algorithm = {};
    /// Into how many blocks the data is cut; default: of about 64 KiB each, at most 256.
    std::optional<int> segments = {};
    arrival_source arrivals = {};

    static constexpr schedule_kind kind = S::kind;
    static constexpr bool reorders_operands = detail::reorders_operands<S>;

    [[nodiscard]] auto name() const -> std::string_view { return typeid(S).name(); }
    void check(call_shape const& shape) const {
        detail::check_arrivals(arrivals, shape.ranks);
        detail::check_segments(segments);
    }
    static constexpr bool bytes_tell = !std::is_empty_v<S> && std::has_unique_object_representations_v<S>;
    /// Complete, and plans are kept, for schedulers without members or whose bytes are their value.
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        if constexpr (bytes_tell || std::is_empty_v<S>)
            return agreement_key();
        else
            return std::nullopt;
    }
    /// What can be compared between ranks.
    [[nodiscard]] auto agreement_key() const -> std::vector<std::int64_t> {
        std::vector<std::int64_t> key{segments.value_or(0), arrivals.given() ? 1 : 0};
        for (auto const time : arrivals.times()) key.push_back(time.count());
        if constexpr (bytes_tell)
            for (auto const byte : std::as_bytes(std::span(&algorithm, 1)))
                key.push_back(static_cast<std::int64_t>(byte));
        return key;
    }
    [[nodiscard]] auto plan(call_shape const& shape, link_model const&) const -> message_program {
        std::size_t const pieces = std::min(shape.bytes() / (std::size_t(64) << 10), std::size_t(256));
        int const blocks = segments.value_or(std::max(1, static_cast<int>(pieces)));
        problem const p{.ranks = shape.ranks,
                        .root = shape.root,
                        .blocks = blocks,
                        .arrivals = arrivals.times(),
                        .owners = {}};
        papcoll::check(p);
        return detail::plan_of(algorithm.for_rank(p, shape.rank), shape, blocks);
    }
};

} // namespace papcoll::inline v0
