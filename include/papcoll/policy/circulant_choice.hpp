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
    double const bytes = static_cast<double>(largest_part(shape) * shape.element_bytes);
    auto const part = link.latency + ticks{std::llround(bytes * link.per_byte)};
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

enum class all_reduce_way { scatter_gather, gather_combine, census, butterfly };

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

/// The shortest in the model: 2q rounds of 2(P − 1)/P·m bytes in all; q rounds of (P − 1)·m; a butterfly's
/// rounds of m each; or, exactly associative, q rounds of m each.
[[nodiscard]] inline auto shortest_circulant_all_reduce(call_shape const& shape, link_model const& link)
    -> all_reduce_choice {
    int const q = circulant_skips(shape.ranks).rounds();
    double const latency = round_latency(link);
    double const volume = volume_time(shape.bytes(), link);
    double const others = shape.ranks - 1;
    double const scatter_gather = 2 * q * latency + 2 * others / shape.ranks * volume;
    double const whole = q * latency + others * volume;
    double const butterfly = butterfly_rounds(shape.ranks) * (latency + volume);
    double const census = shape.exact ? q * (latency + volume) : std::numeric_limits<double>::infinity();
    double const least = std::min({scatter_gather, whole, butterfly, census});
    if (butterfly <= least) return {all_reduce_way::butterfly, least};
    if (census <= least) return {all_reduce_way::census, least};
    return {whole <= least ? all_reduce_way::gather_combine : all_reduce_way::scatter_gather, least};
}

[[nodiscard]] inline auto choose_circulant_all_reduce(call_shape const& shape, link_model const& link)
    -> all_reduce_way {
    return shortest_circulant_all_reduce(shape, link).way;
}

} // namespace papcoll::inline v0::detail
