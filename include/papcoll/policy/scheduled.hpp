// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/policy/plan_writer.hpp>
#include <papcoll/policy/policy.hpp>
#include <papcoll/scheduler/reversed.hpp>

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

/// A policy from any scheduler, for all collectives of its kind: a reduction scheduler reduces and, with the
/// ranks as owners, reduce-scatters; a dissemination scheduler broadcasts and all-gathers. All-reduce is a
/// reduction to the root and, `reversed`, the way back. A scheduler alone, given as the policy of a call,
/// means `scheduled` with the defaults. Operators must be commutative unless the scheduler has `static
/// constexpr bool keeps_rank_order = true`.
template <scheduler S>
struct scheduled {
    S algorithm = {};
    /// Into how many blocks the data is cut, or each rank's part of it; default: of about 64 KiB each, at
    /// most 256, and no more than plan_limit(P) has room for when each is sent and received once; of
    /// all-reduces no more than 2^20 of all ranks.
    std::optional<int> segments = {};
    arrival_source arrivals = {};

    static constexpr bool reorders_operands = detail::reorders_operands<S>;
    static constexpr auto provides(collective_kind operation) -> bool {
        bool const reduces = operation == collective_kind::reduce ||
                             operation == collective_kind::reduce_scatter ||
                             operation == collective_kind::all_reduce;
        return operation != collective_kind::all_to_all && operation != collective_kind::gather &&
               reduces == (S::kind == schedule_kind::reduction);
    }

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
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program {
        bool const has_parts = shape.operation == collective_kind::all_gather ||
                               shape.operation == collective_kind::reduce_scatter;
        int const n = blocks(shape, has_parts ? static_cast<std::size_t>(shape.ranks) : 1);
        auto const layout = has_parts ? detail::layout_of_ranks(shape, detail::part_cut{n, 0})
                                      : detail::layout_of_root(shape, n);
        auto const windows = detail::windows_for(layout.longest() * shape.element_bytes, shape, link);
        plan_writer plan(shape);
        plan.add(algorithm, layout, windows, arrivals.times());
        if constexpr (S::kind == schedule_kind::reduction)
            if (shape.operation == collective_kind::all_reduce)
                plan.add(reversed(algorithm), layout, windows, arrivals.times());
        return plan.finish();
    }

private:
    [[nodiscard]] auto blocks(call_shape const& shape, std::size_t parts) const -> int {
        auto most = std::min<std::size_t>(256, static_cast<std::size_t>(detail::most_blocks(shape)) / parts);
        // reversed() looks at the transfers of all ranks.
        if (shape.operation == collective_kind::all_reduce)
            most = std::min(most, (std::size_t(1) << 20) / static_cast<std::size_t>(shape.ranks));
        std::size_t const pieces = shape.bytes() / parts / (std::size_t(64) << 10);
        return segments.value_or(static_cast<int>(std::max<std::size_t>(std::min(pieces, most), 1)));
    }
};

} // namespace papcoll::inline v0
