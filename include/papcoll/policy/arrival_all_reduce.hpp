// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/policy/circulant.hpp>
#include <papcoll/policy/circulant_choice.hpp>
#include <papcoll/policy/plan_writer.hpp>
#include <papcoll/policy/policy.hpp>
#include <papcoll/policy/scheduled.hpp>
#include <papcoll/scheduler/arrival_all_reduce.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// All-reduce by ranks that know who comes last: the others combine what they have meanwhile, and the last
/// one exchanges its data for the result, block by block, while that spreads (arrival_all_reduce_scheduler).
///
/// With q = ⌈log2 P⌉, m bytes and n blocks: n + q rounds of m/n bytes after the last arrival, where
/// arrival-blind all-reduces move 2·(P − 1)/P·m. Where the arrivals are too close for that, when none are
/// given, and for data so short that only latencies count, it does what `circulant` does.
///
/// `arrivals` and `block_bytes` must agree on all ranks; wrong arrivals cost time, never correctness.
/// Operators must be commutative. A rank computes its share alone, in O(P log P + n P).
struct arrival_all_reduce {
    /// When the ranks arrive; none given: all together.
    arrival_source arrivals = {};
    /// The size of a block; default: that of the shortest time on the measured link.
    std::optional<std::size_t> block_bytes = {};

    static constexpr bool reorders_operands = true;
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool {
        return operation == collective_kind::all_reduce;
    }

    [[nodiscard]] auto name() const -> std::string_view { return "arrival_all_reduce"; }
    void check(call_shape const& shape) const {
        detail::check_arrivals(arrivals, shape.ranks);
        if (block_bytes && *block_bytes == 0)
            throw std::invalid_argument("papcoll: block_bytes must be at least 1, but are 0");
    }
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        std::vector<std::int64_t> key{static_cast<std::int64_t>(block_bytes.value_or(0)),
                                      arrivals.given() ? 1 : 0};
        for (auto const time : arrivals.times()) key.push_back(time.count());
        return key;
    }
    /// Into how many blocks the exchange cuts the data: (n + q)·(α + β·m/n) is smallest at n = √(q·β·m/α).
    [[nodiscard]] auto blocks(call_shape const& shape, link_model const& link) const -> int {
        if (block_bytes)
            return detail::pieces_of(shape.count,
                                     std::max<std::size_t>(*block_bytes / shape.element_bytes, 1));
        auto const n =
            detail::theorem_2_blocks(circulant_skips(shape.ranks).rounds() + 1,
                                     detail::volume_time(shape.bytes(), link), detail::round_latency(link));
        auto const most = static_cast<std::int64_t>(std::max<std::size_t>(shape.count, 1));
        auto whole = shape; // one stage moves each block four times: two operands and two results
        whole.operation = collective_kind::reduce;
        return static_cast<int>(
            std::clamp<std::int64_t>(n, 1, std::min(most, detail::most_blocks(whole, 4))));
    }
    /// Whether a call of this shape uses the arrivals; otherwise it is one of `circulant`.
    [[nodiscard]] auto aware(call_shape const& shape, link_model const& link) const -> bool {
        return arrivals.given() && shape.count > 0 &&
               detail::choose_circulant_all_reduce(shape, link) == detail::all_reduce_way::scatter_gather &&
               algorithm(shape, link).aware(task(shape, blocks(shape, link)));
    }
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program {
        if (!aware(shape, link)) return circulant{.block_bytes = block_bytes}.plan(shape, link);
        int const n = blocks(shape, link);
        auto share = algorithm(shape, link).for_rank(task(shape, n), shape.rank);
        detail::block_layout const layout{ranges_of({shape.count, n}), std::move(share.owners)};
        auto const windows = detail::windows_for(layout.longest() * shape.element_bytes, shape, link);
        plan_writer plan(shape);
        plan.add_spread(share.reduction, share.dissemination, layout, windows);
        return plan.finish();
    }

    friend auto operator==(arrival_all_reduce const&, arrival_all_reduce const&) -> bool = default;

private:
    static auto algorithm(call_shape const& shape, link_model const& link) -> arrival_all_reduce_scheduler {
        auto const volume = link.transfer_time(shape.bytes()) - link.latency;
        return {.transfer_time = std::max(volume, ticks(1)), .latency = link.latency};
    }
    [[nodiscard]] auto task(call_shape const& shape, int n) const -> problem {
        return {.ranks = shape.ranks, .root = 0, .blocks = n, .arrivals = arrivals.times(), .owners = {}};
    }
};

} // namespace papcoll::inline v0
