// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/schedule/problem.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace papcoll::inline v0 {

/// Shapes of process arrival patterns. With M the magnitude and P the number of ranks, rank r arrives at
enum class arrival_shape {
    no_delay,      ///< 0
    ascending,     ///< M·r/(P−1)
    descending,    ///< M·(P−1−r)/(P−1)
    random,        ///< independently and uniformly in [0, M], by the seed
    first_delayed, ///< M for rank 0, else 0
    last_delayed,  ///< M for rank P−1, else 0
    bell,          ///< M·m/⌊(P−1)/2⌋ with m = min(r, P−1−r): the middle ranks come last
    valley,        ///< M minus bell, for P ≥ 3, else 0: the middle ranks come first
    half_delayed   ///< 0 for r < ⌈P/2⌉, else M
};

namespace detail {

using named_shape = std::pair<arrival_shape, std::string_view>;
inline constexpr std::array<named_shape, 9> named_shapes{{{arrival_shape::no_delay, "no_delay"},
                                                          {arrival_shape::ascending, "ascending"},
                                                          {arrival_shape::descending, "descending"},
                                                          {arrival_shape::random, "random"},
                                                          {arrival_shape::first_delayed, "first_delayed"},
                                                          {arrival_shape::last_delayed, "last_delayed"},
                                                          {arrival_shape::bell, "bell"},
                                                          {arrival_shape::valley, "valley"},
                                                          {arrival_shape::half_delayed, "half_delayed"}}};

/// ⌊value·part/whole⌋ for 0 ≤ part ≤ whole < 2³¹, 0 ≤ value, without overflow: value = q·whole + r gives
/// q·part + ⌊r·part/whole⌋.
constexpr auto scaled(std::int64_t value, std::int64_t part, std::int64_t whole) -> std::int64_t {
    if (whole == 0) return 0;
    return value / whole * part + value % whole * part / whole;
}

/// splitmix64: the same sequence on every platform, which the standard's distributions do not promise.
constexpr auto next_random(std::uint64_t& state) -> std::uint64_t {
    state += 0x9e3779b97f4a7c15U;
    auto z = state;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

constexpr auto delay_at(arrival_shape shape, int rank, int ranks, std::int64_t magnitude) -> std::int64_t {
    int const last = ranks - 1;
    int const from_end = rank < last - rank ? rank : last - rank;
    switch (shape) {
    case arrival_shape::ascending:
        return scaled(magnitude, rank, last);
    case arrival_shape::descending:
        return scaled(magnitude, last - rank, last);
    case arrival_shape::first_delayed:
        return rank == 0 ? magnitude : 0;
    case arrival_shape::last_delayed:
        return rank == last ? magnitude : 0;
    case arrival_shape::bell:
        return scaled(magnitude, from_end, last / 2);
    case arrival_shape::valley:
        return last < 2 ? 0 : magnitude - scaled(magnitude, from_end, last / 2);
    case arrival_shape::half_delayed:
        return rank < (ranks + 1) / 2 ? 0 : magnitude;
    case arrival_shape::no_delay:
    case arrival_shape::random:
        break;
    }
    return 0;
}

} // namespace detail

/// All shapes, no_delay first.
[[nodiscard]] constexpr auto all_arrival_shapes() -> std::array<arrival_shape, 9> {
    std::array<arrival_shape, 9> shapes{};
    for (std::size_t i = 0; i < shapes.size(); ++i) shapes[i] = detail::named_shapes[i].first;
    return shapes;
}

/// The name of a shape, as patterns' files have it.
[[nodiscard]] constexpr auto to_string(arrival_shape shape) -> std::string_view {
    for (auto const& [known, name] : detail::named_shapes)
        if (known == shape) return name;
    return "unknown";
}

/// The shape with this name, as to_string writes it; nullopt if there is none.
[[nodiscard]] constexpr auto arrival_shape_of(std::string_view name) -> std::optional<arrival_shape> {
    for (auto const& [shape, known] : detail::named_shapes)
        if (known == name) return shape;
    return std::nullopt;
}

/// The arrival time of each of `ranks` ≥ 1 ranks, all in [0, magnitude]; equal arguments give equal times on
/// every machine. Only `random` looks at the seed. A single rank is both the first and the last.
///
/// The shapes and the idea of scaling them by the run time of the balanced operation are those of work on
/// selecting algorithms under arrival patterns; bell, valley and half_delayed are defined here.
/// Throws std::invalid_argument for fewer than one rank or a negative magnitude.
[[nodiscard]] inline auto arrival_pattern(arrival_shape shape, int ranks, ticks magnitude,
                                          std::uint64_t seed = 1) -> std::vector<ticks> {
    detail::require(ranks >= 1, "ranks must be at least 1", ranks);
    detail::require(magnitude.count() >= 0, "magnitude must not be negative", magnitude.count());
    std::vector<ticks> arrivals(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank)
        arrivals[static_cast<std::size_t>(rank)] =
            ticks{detail::delay_at(shape, rank, ranks, magnitude.count())};
    if (shape == arrival_shape::random)
        for (auto& arrival : arrivals)
            // 31 random bits: uniform in steps of M/(2³¹−1), both ends included.
            arrival = ticks{detail::scaled(magnitude.count(),
                                           static_cast<std::int64_t>(detail::next_random(seed) >> 33U),
                                           std::int64_t{0x7fffffff})};
    return arrivals;
}

} // namespace papcoll::inline v0
