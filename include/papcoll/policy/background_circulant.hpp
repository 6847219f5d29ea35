// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/policy/circulant.hpp>
#include <papcoll/policy/plan_writer.hpp>
#include <papcoll/policy/scheduled.hpp>
#include <papcoll/policy/whole_parts.hpp>
#include <papcoll/scheduler/background_circulant.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// All-gather in waves: parts of ranks that arrive together are disseminated together by circulant graphs,
/// early ones while later ranks still compute. One late rank costs little more than the time of its own part,
/// where rings take P − 1 times as much; all together it is `circulant`. See background_circulant_scheduler.
///
/// As for background_ring the gain before the call needs open_all_gather, wrong arrivals cost time alone, and
/// arrivals must be the same on all ranks. Without arrivals it is `circulant`.
struct background_circulant {
    arrival_source arrivals = {};
    /// How long one rank's part takes from rank to rank; default: from the measured link. Must agree on all
    /// ranks.
    std::optional<ticks> block_time = {};
    /// Into how many blocks each rank's part is cut, for the waves that are pipelined; default: n = √((q − 1)
    /// · block time / latency), q = ⌈log2 P⌉, of at least 16 KiB, and no more than 12000 of all ranks unless
    /// it is one each: a plan takes about 81 bytes for each. Must agree on all ranks.
    std::optional<int> segments = {};

    static constexpr bool reorders_operands = true;
    static constexpr bool equality_tells = true;
    static constexpr auto provides(collective_kind operation) -> bool {
        return operation == collective_kind::all_gather;
    }

    [[nodiscard]] auto name() const -> std::string_view { return "background_circulant"; }
    void check(call_shape const& shape) const {
        detail::check_arrivals(arrivals, shape.ranks);
        detail::check_block_time(block_time);
        detail::check_segments(segments);
    }
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        auto key = detail::arrivals_key(arrivals, block_time);
        key.push_back(segments.value_or(0));
        return key;
    }
    /// Into how many blocks each rank's part is cut.
    [[nodiscard]] auto blocks(call_shape const& shape, link_model const& link) const -> int {
        if (segments) return *segments;
        auto const bytes = detail::largest_part(shape) * shape.element_bytes;
        auto const most = std::max<std::int64_t>(static_cast<std::int64_t>(bytes / least_block_bytes), 1);
        int const rounds = circulant_skips(shape.ranks).rounds();
        auto const time = detail::block_time_of(block_time, shape, link);
        auto const best =
            detail::theorem_2_blocks(rounds, static_cast<double>(time.count()), detail::round_latency(link));
        auto const room = std::max<std::int64_t>(most_blocks / shape.ranks, 1);
        return static_cast<int>(std::clamp<std::int64_t>(best, 1, std::min(most, room)));
    }
    [[nodiscard]] auto plan(call_shape const& shape, link_model const& link) const -> program {
        if (!arrivals.given() && !segments) return circulant{}.plan(shape, link);
        auto const time = detail::block_time_of(block_time, shape, link);
        background_circulant_scheduler const algorithm{time, std::min(link.latency, time)};
        int const n = blocks(shape, link);
        auto const bytes = detail::largest_part(shape) * shape.element_bytes;
        auto const layout = detail::layout_of_ranks(shape, detail::part_cut{n, 0});
        auto windows = detail::windows_for(bytes, shape, link);
        // Blocks of a pipelined wave follow each other, and nothing else is on their way. Other waves move
        // more of them at a time.
        if (auto const block = layout.longest(); block <= windows.longest_elements / 4 * 3) {
            windows.unadmitted_elements = block;
            windows.longest_elements = std::max(windows.longest_elements, 2 * block);
        }
        plan_writer plan(shape);
        plan.add(algorithm, layout, windows, arrivals.times());
        return plan.finish();
    }

    friend auto operator==(background_circulant const&, background_circulant const&) -> bool = default;

private:
    // Twice as many blocks of half the size were no faster, and cost the processors twice as much.
    static constexpr std::size_t least_block_bytes = std::size_t(16) << 10;
    static constexpr std::int64_t most_blocks = 12'000; // of all ranks: a plan of 1 MB
};

} // namespace papcoll::inline v0
