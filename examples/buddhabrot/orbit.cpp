// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "orbit.hpp"

#include <complex>

namespace buddhabrot {

namespace {

using point = std::complex<double>;

constexpr std::size_t shortest_orbit = 18; // shorter ones are fog: they show no structure

// The window of the picture, which is turned by a quarter: the real axis points down and the figure sits.
constexpr double top = -1.85;
constexpr double extent = 2.9;

/// The finaliser of SplitMix64: a bijection that looks random.
constexpr auto mix(std::uint64_t x) -> std::uint64_t {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

/// The upper 53 bits as a number in [0, 1).
constexpr auto unit(std::uint64_t bits) -> double { return static_cast<double>(bits >> 11) * 0x1p-53; }

auto sample_point(frame const& work, std::size_t i) -> point {
    auto const stream = mix(mix(work.seed) + work.number);
    auto const random = mix(stream + 0x9e3779b97f4a7c15 * (i + 1));
    auto const strip = (static_cast<double>(i) + unit(mix(random))) / static_cast<double>(work.samples);
    return {-2.0 + 2.5 * unit(random), 1.15 * strip};
}

/// The main cardioid and the disc of period 2 never escape, and a formula says so.
auto is_trivially_inside(point c) -> bool {
    auto const x = c.real() - 0.25;
    auto const y2 = c.imag() * c.imag();
    auto const q = x * x + y2;
    return q * (q + x) <= 0.25 * y2 || (c.real() + 1) * (c.real() + 1) + y2 <= 0.0625;
}

/// Iterates z → z² + c from 0 and returns the points up to the one that leaves |z| ≤ 2, or none if none does
/// or there are very few.
auto escaping_orbit(point c, std::span<point> scratch) -> std::span<point const> {
    if (is_trivially_inside(c)) return {};
    auto x = 0.0;
    auto y = 0.0;
    for (std::size_t n = 0; n < scratch.size(); ++n) {
        auto const next_x = x * x - y * y + c.real();
        y = 2 * x * y + c.imag();
        x = next_x;
        scratch[n] = {x, y};
        if (x * x + y * y > 4) return n < shortest_orbit ? scratch.first(0) : scratch.first(n);
    }
    return {};
}

/// The channels divide the lengths at 1/100 and 1/10 of the iteration limit.
auto channel_of(std::size_t length, int max_iterations) -> std::size_t {
    auto const limit = static_cast<std::size_t>(max_iterations);
    if (length * 100 <= limit) return 0;
    return length * 10 <= limit ? 1 : 2;
}

void count(std::span<point const> orbit, std::span<float> plane, density const& image) {
    auto const scale = static_cast<double>(image.height) / extent;
    auto const middle = static_cast<double>(image.width) / 2;
    for (auto const z : orbit) {
        auto const column = middle + scale * z.imag();
        auto const row = scale * (z.real() - top);
        if (column < 0 || row < 0) continue;
        auto const x = static_cast<std::size_t>(column);
        auto const y = static_cast<std::size_t>(row);
        if (x < image.width && y < image.height) plane[y * image.width + x] += 1;
    }
}

} // namespace

auto share_of(frame const& work, int rank, int ranks) -> share {
    auto const bound = [&](int r) {
        return work.samples * static_cast<std::size_t>(r) / static_cast<std::size_t>(ranks);
    };
    return {bound(rank), bound(rank + 1)};
}

void trace(frame const& work, share mine, density& image) {
    std::vector<point> scratch(static_cast<std::size_t>(work.max_iterations));
    for (auto i = mine.begin; i < mine.end; ++i) {
        auto const orbit = escaping_orbit(sample_point(work, i), scratch);
        count(orbit, image.plane(channel_of(orbit.size(), work.max_iterations)), image);
    }
}

} // namespace buddhabrot
