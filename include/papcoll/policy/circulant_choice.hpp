// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/context/link_model.hpp>
#include <papcoll/policy/call_shape.hpp>
#include <papcoll/policy/plan_size.hpp>
#include <papcoll/policy/uneven_choice.hpp>
#include <papcoll/scheduler/circulant/skips.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace papcoll::inline v0::detail {

/// The number of blocks with which (n − 1 + q)·(α + β·m/n) is smallest: n = √((q − 1)·β·m/α) (paper 3,
/// Theorem 2). `volume` is the time of β·m. One correctly rounded root: all ranks find the same number.
[[nodiscard]] inline auto theorem_2_blocks(int rounds, double volume, double latency) -> std::int64_t {
    double const square = static_cast<double>(rounds - 1) * volume / std::max(latency, 1.0);
    return static_cast<std::int64_t>(std::sqrt(std::clamp(square, 1.0, 1e12)));
}

/// What a round costs beyond the time of its bytes, in nanoseconds.
[[nodiscard]] inline auto round_latency(link_model const& link) -> double {
    return static_cast<double>(link.latency.count());
}
[[nodiscard]] inline auto volume_time(std::size_t bytes, link_model const& link) -> double {
    return static_cast<double>(bytes) * link.per_byte;
}

/// ⌈elements ÷ block⌉, at least 1.
[[nodiscard]] inline auto blocks_for(std::size_t elements, std::size_t block) -> int {
    std::size_t const wanted = elements / block + (elements % block != 0 ? 1 : 0);
    return static_cast<int>(std::clamp<std::size_t>(wanted, 1, std::size_t(1) << 20));
}

[[nodiscard]] inline auto largest_part(call_shape const& shape) -> std::size_t {
    if (!shape.sizes.empty()) return *std::max_element(shape.sizes.begin(), shape.sizes.end());
    return block_partition{shape.count, shape.ranks}.largest();
}
/// What was asked for, or as long as the largest part of a rank travels, and never 0.
[[nodiscard]] inline auto block_time_of(std::optional<ticks> const& given, call_shape const& shape,
                                        link_model const& link) -> ticks {
    auto const part = link.planned_time(largest_part(shape) * shape.element_bytes);
    return given.value_or(std::max(part, ticks{1}));
}

/// What a message costs beyond what a ping shows, in nanoseconds, where more than one is under way: it speaks
/// against small blocks.
[[nodiscard]] inline auto message_cost(link_model const& link) -> double {
    return link.per_message > 0 ? link.per_message : 2'000;
}

/// Into how many blocks the data can be cut, if not into too many.
[[nodiscard]] inline auto most_parts(call_shape const& shape) -> std::int64_t {
    return static_cast<std::int64_t>(std::clamp<std::size_t>(shape.count, 1, std::size_t(1) << 20));
}

/// Of data that one rank has or gets: into how many blocks it is cut.
[[nodiscard]] inline auto choose_circulant_blocks(call_shape const& shape, link_model const& link,
                                                  std::optional<std::size_t> block_bytes) -> int {
    if (block_bytes)
        return blocks_for(shape.count, std::max<std::size_t>(*block_bytes / shape.element_bytes, 1));
    if (shape.ranks == 1) return 1;
    auto const n = theorem_2_blocks(circulant_skips(shape.ranks).rounds(), volume_time(shape.bytes(), link),
                                    round_latency(link) + message_cost(link));
    return static_cast<int>(std::min({n, most_parts(shape), most_blocks(shape)}));
}
/// Of data of which each rank has or gets a part: into how many blocks the parts are cut.
[[nodiscard]] inline auto choose_circulant_parts(call_shape const& shape, link_model const& link,
                                                 std::optional<std::size_t> block_bytes) -> part_cut {
    if (block_bytes) {
        auto const block = std::max<std::size_t>(*block_bytes / shape.element_bytes, 1);
        return {blocks_for(largest_part(shape), block), block};
    }
    if (shape.ranks == 1 || shape.sizes.empty()) return {};
    return uneven_choice(shape, link).best();
}

enum class all_reduce_way { scatter_gather, census, butterfly };

/// The rounds of a butterfly: ⌊log2 P⌋, and two more unless P is a power of two.
[[nodiscard]] inline auto butterfly_rounds(int ranks) -> int {
    auto const p = static_cast<unsigned>(ranks);
    return static_cast<int>(std::bit_width(p)) - 1 + (std::has_single_bit(p) ? 0 : 2);
}

/// An all-reduce by `circulant`: which way, and how long it takes in the model, in nanoseconds.
struct all_reduce_choice {
    all_reduce_way way;
    double time;
};

/// How many times as long a round takes in which a rank sends to one and receives from another as one in
/// which two exchange, where what acknowledges one message goes with the other: between emulated hosts 1.2
/// to 2.
inline constexpr double one_way_round = 5.0 / 3;

/// What q = ⌈log2 P⌉ rounds of whole parts take in the model, in nanoseconds: an all-gather or a
/// reduce-scatter by circulant graphs.
[[nodiscard]] inline auto circulant_rounds_time(call_shape const& shape, link_model const& link) -> double {
    double const others = shape.ranks - 1;
    return circulant_skips(shape.ranks).rounds() * one_way_round * round_latency(link) +
           others / shape.ranks * volume_time(shape.bytes(), link);
}
/// The same of recursive halving, of which all messages go both ways between two ranks.
[[nodiscard]] inline auto halving_time(call_shape const& shape, link_model const& link) -> double {
    double const others = shape.ranks - 1;
    bool const folds = !std::has_single_bit(static_cast<unsigned>(shape.ranks));
    double const volume = (others + (folds ? shape.ranks + 1 : 0)) / shape.ranks;
    return butterfly_rounds(shape.ranks) * round_latency(link) + volume * volume_time(shape.bytes(), link);
}
/// Whether a reduce-scatter had better go so. Long messages would delay what acknowledges them.
[[nodiscard]] inline auto is_better_halved(call_shape const& shape, link_model const& link) -> bool {
    constexpr double short_volume = 16; // latencies
    return volume_time(shape.bytes(), link) <= short_volume * round_latency(link) &&
           halving_time(shape, link) < circulant_rounds_time(shape, link);
}
/// Whether an all-gather had better go likewise, by recursive doubling.
[[nodiscard]] inline auto is_better_doubled(call_shape const& shape, link_model const& link) -> bool {
    return std::has_single_bit(static_cast<unsigned>(shape.ranks)) && is_better_halved(shape, link);
}

/// The shortest in the model: a reduce-scatter and an all-gather; a butterfly's rounds of m each; or, exactly
/// associative, q rounds of m each.
[[nodiscard]] inline auto shortest_circulant_all_reduce(call_shape const& shape, link_model const& link)
    -> all_reduce_choice {
    int const q = circulant_skips(shape.ranks).rounds();
    double const latency = round_latency(link);
    double const volume = volume_time(shape.bytes(), link);
    double const by_graph = circulant_rounds_time(shape, link);
    double const halving = is_better_halved(shape, link) ? halving_time(shape, link) : by_graph;
    double const scatter_gather = halving + (is_better_doubled(shape, link) ? halving : by_graph);
    double const butterfly = butterfly_rounds(shape.ranks) * (latency + volume);
    double const census =
        shape.exact ? q * (one_way_round * latency + volume) : std::numeric_limits<double>::infinity();
    double const least = std::min({scatter_gather, butterfly, census});
    if (butterfly <= least) return {all_reduce_way::butterfly, least};
    if (census <= least) return {all_reduce_way::census, least};
    return {all_reduce_way::scatter_gather, least};
}

[[nodiscard]] inline auto choose_circulant_all_reduce(call_shape const& shape, link_model const& link)
    -> all_reduce_way {
    return shortest_circulant_all_reduce(shape, link).way;
}

} // namespace papcoll::inline v0::detail
