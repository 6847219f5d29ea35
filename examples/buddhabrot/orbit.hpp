// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace buddhabrot {

inline constexpr std::size_t channels = 3;

/// How often orbits visit each pixel: `channels` planes of width × height counts, one after the other. Floats
/// hold integers below 2^24 exactly, so sums over ranks do not depend on the order of additions.
struct density {
    std::size_t width;
    std::size_t height;
    std::vector<float> counts;

    explicit density(std::size_t pixels_wide)
        : width(pixels_wide)
        , height(pixels_wide * 5 / 4)
        , counts(channels * width * height) {}

    [[nodiscard]] auto plane(std::size_t channel) -> std::span<float> {
        return std::span(counts).subspan(channel * width * height, width * height);
    }
    [[nodiscard]] auto plane(std::size_t channel) const -> std::span<float const> {
        return std::span(counts).subspan(channel * width * height, width * height);
    }
};

/// The work of one frame. Sample i starts at a pseudo-random point of the i-th of `samples` thin strips of
/// the upper half plane (the lower half is its mirror image), so the picture is the same for any number of
/// ranks.
struct frame {
    std::uint64_t seed;
    std::uint64_t number;
    std::size_t samples;
    int max_iterations;
};

/// A rank's samples: an interval of the strips. Intervals of equal size cost very different time, because
/// orbits that start inside the set, or close to it, are long.
struct share {
    std::size_t begin;
    std::size_t end;
};

[[nodiscard]] auto share_of(frame const& work, int rank, int ranks) -> share;

/// Adds the orbits of the share to the image, those of up to 1/100, up to 1/10 and up to all of
/// max_iterations points to one channel each.
void trace(frame const& work, share mine, density& image);

} // namespace buddhabrot
