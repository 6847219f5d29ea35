// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <png.h>
#include <stdexcept>

namespace buddhabrot {

namespace {

using colour = std::array<float, 3>;

// Short orbits glow blue, longer ones violet to rose, the longest golden.
constexpr auto hues = std::array<colour, channels>{colour{0.10F, 0.34F, 0.86F}, colour{0.62F, 0.22F, 0.50F},
                                                   colour{0.95F, 0.66F, 0.22F}};
constexpr auto gamma_exponent = 0.8F;
constexpr auto exposure = 1.3F;
constexpr auto white_quantile = 0.998;

/// Adds the mirror image, that is, the orbits of the lower half plane.
auto with_mirror_image(density const& image, std::size_t channel) -> std::vector<float> {
    auto const counts = image.plane(channel);
    std::vector<float> plane(counts.size());
    for (std::size_t y = 0; y < image.height; ++y)
        for (std::size_t x = 0; x < image.width; ++x)
            plane[y * image.width + x] =
                counts[y * image.width + x] + counts[y * image.width + image.width - 1 - x];
    return plane;
}

/// The count that becomes full brightness; a quantile, since a few pixels are far above all others.
auto white_point(std::vector<float> counts) -> float {
    auto const nth = static_cast<std::ptrdiff_t>(white_quantile * static_cast<double>(counts.size() - 1));
    std::nth_element(counts.begin(), counts.begin() + nth, counts.end());
    return std::max(1.F, counts[static_cast<std::size_t>(nth)]);
}

/// From 0 and 1 to 0 and almost 1, steep at first; what is brighter than white saturates softly.
auto tone(float count, float white) -> float {
    return 1 - std::exp(-exposure * std::pow(count / white, gamma_exponent));
}

auto to_byte(float brightness) -> png_byte {
    return static_cast<png_byte>(std::lround(255 * std::clamp(brightness, 0.F, 1.F)));
}

auto render(density const& image) -> std::vector<png_byte> {
    std::vector<float> light(3 * image.width * image.height);
    for (std::size_t channel = 0; channel < channels; ++channel) {
        auto const plane = with_mirror_image(image, channel);
        auto const white = white_point(plane);
        for (std::size_t i = 0; i < plane.size(); ++i)
            for (std::size_t c = 0; c < 3; ++c) light[3 * i + c] += hues[channel][c] * tone(plane[i], white);
    }
    std::vector<png_byte> bytes(light.size());
    std::transform(light.begin(), light.end(), bytes.begin(), to_byte);
    return bytes;
}

} // namespace

void write_png(std::filesystem::path const& file, density const& image) {
    auto const bytes = render(image);
    png_image header{};
    header.version = PNG_IMAGE_VERSION;
    header.width = static_cast<png_uint_32>(image.width);
    header.height = static_cast<png_uint_32>(image.height);
    header.format = PNG_FORMAT_RGB;
    if (png_image_write_to_file(&header, file.c_str(), 0, bytes.data(), 0, nullptr) == 0)
        throw std::runtime_error("cannot write " + file.string() + ": " + header.message);
}

} // namespace buddhabrot
