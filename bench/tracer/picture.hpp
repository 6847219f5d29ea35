// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>

#include "analysis.hpp"

namespace trace {

namespace detail {

/// 1, 2 or 5 times a power of ten, so that at most about five such steps reach `most`.
inline auto step_to(double most) -> double {
    double const power = std::pow(10.0, std::floor(std::log10(most / 5)));
    for (double const factor : {1.0, 2.0, 5.0})
        if (most / (factor * power) <= 5) return factor * power;
    return 10 * power;
}

inline auto escaped(std::string_view text) -> std::string {
    std::string result;
    for (char const c : text) {
        if (c == '<')
            result += "&lt;";
        else if (c == '>')
            result += "&gt;";
        else if (c == '&')
            result += "&amp;";
        else
            result += c;
    }
    return result;
}

} // namespace detail

/// Draws, as SVG, the mean delay of every traced rank as a bar, with a line from its 10th to its 90th
/// percentile: figure 1 of the paper on selection under arrival patterns.
inline void draw(std::ostream& out, group const& of, std::string_view title) {
    constexpr double left = 70;
    constexpr double top = 40;
    constexpr double width = 760;
    constexpr double height = 280;
    std::vector<summary> ranks;
    double most_ns = 1; // so that a trace without delays has an axis, too
    for (std::size_t i = 0; i < of.ranks.size(); ++i) {
        ranks.push_back(summarise_rank(of, i));
        most_ns = std::max({most_ns, ranks.back().mean, static_cast<double>(ranks.back().p90)});
    }
    bool const in_ms = most_ns >= 1e7;
    double const unit = in_ms ? 1e6 : 1e3;
    double const most = most_ns / unit;
    auto const slot = width / static_cast<double>(ranks.size());
    auto const y = [&](double ns) { return top + height * (1 - ns / (most_ns * 1.05)); };
    out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"860\" height=\"380\" "
           "font-family=\"sans-serif\" "
           "font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"70\" "
           "y=\"22\">"
        << detail::escaped(title) << "</text>\n";
    auto const step = detail::step_to(most);
    for (int i = 0; i * step <= most * 1.05; ++i) {
        auto const at = y(i * step * unit);
        out << "<path d=\"M" << left << ' ' << at << 'h' << width << "\" stroke=\"#ddd\"/><text x=\""
            << left - 6 << "\" y=\"" << at + 4 << "\" text-anchor=\"end\">" << i * step << "</text>\n";
    }
    auto const label_every = std::max<std::size_t>(1, (ranks.size() + 15) / 16);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        auto const x = left + slot * static_cast<double>(i);
        out << "<rect class=\"mean\" x=\"" << x + slot * 0.1 << "\" y=\"" << y(ranks[i].mean) << "\" width=\""
            << slot * 0.8 << "\" height=\"" << y(0) - y(ranks[i].mean) << "\" fill=\"#4a7ab5\"/><path d=\"M"
            << x + slot / 2 << ' ' << y(static_cast<double>(ranks[i].p10)) << 'V'
            << y(static_cast<double>(ranks[i].p90)) << "\" stroke=\"#333\"/>\n";
        if (i % label_every == 0)
            out << "<text x=\"" << x + slot / 2 << "\" y=\"" << top + height + 16
                << "\" text-anchor=\"middle\">" << of.ranks[i] << "</text>\n";
    }
    out << "<text x=\"" << left + width / 2 << "\" y=\"" << top + height + 40
        << "\" text-anchor=\"middle\">rank</text>\n<text transform=\"translate(16 " << top + height / 2
        << ") rotate(-90)\" text-anchor=\"middle\">delay behind the first rank [" << (in_ms ? "ms" : "µs")
        << "]</text>\n</svg>\n";
}

} // namespace trace
