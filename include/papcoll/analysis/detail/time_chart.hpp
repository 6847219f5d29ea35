// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis/metrics.hpp>
#include <papcoll/schedule/problem.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace papcoll::inline v0::detail {

struct time_unit {
    std::string_view name;
    double ticks;
};

/// The largest unit of which `range` ticks are at least two.
inline auto unit_for(double range) -> time_unit {
    constexpr std::array<time_unit, 3> units{{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}}};
    for (auto const& unit : units)
        if (range >= 2 * unit.ticks) return unit;
    return {"ns", 1};
}

/// The smallest of 1, 2, 5 times a power of ten that divides `range` into at most `parts`.
inline auto round_division(double range, int parts) -> double {
    double const least = range / parts;
    double const power = std::pow(10.0, std::floor(std::log10(least)));
    for (double const factor : {1.0, 2.0, 5.0})
        if (factor * power >= least) return factor * power;
    return 10.0 * power;
}

/// Decimal point in every locale.
inline auto fixed(double value, int digits) -> std::string {
    std::array<char, 64> text{};
    auto const end =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, digits);
    return {text.data(), end.ptr};
}

inline auto xml_escaped(std::string_view text) -> std::string {
    std::string out;
    for (char const c : text) {
        if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '&')
            out += "&amp;";
        else if (c == '"')
            out += "&quot;";
        else if (static_cast<unsigned char>(c) < 0x20)
            out += ' '; // XML has no control characters
        else
            out += c;
    }
    return out;
}

/// An SVG document of ranks downwards and time to the right, in one panel or several that share the scale.
/// Lengths are pixels, times are ticks since the first arrival.
class time_chart {
public:
    static constexpr double left = 56;
    static constexpr double top = 60;
    static constexpr std::string_view before_colour = "#c9ced6";
    static constexpr std::string_view last_colour = "#c2410c";

    struct layout {
        double panel; ///< width
        double row;   ///< height
        int divisions;
    };

    time_chart(std::size_t ranks, double longest, layout const& l)
        : m_ranks(ranks)
        , m_layout(l)
        , m_unit(unit_for(longest))
        , m_division(round_division(longest, l.divisions))
        , m_range(m_division * std::ceil(longest / m_division)) {}

    static auto as_double(ticks time) -> double { return static_cast<double>(time.count()); }
    static auto number(double value) -> std::string { return fixed(value, 1); }

    [[nodiscard]] auto row_height() const -> double { return m_layout.row; }
    [[nodiscard]] auto row(std::size_t rank) const -> double {
        return top + m_layout.row * static_cast<double>(rank);
    }
    [[nodiscard]] auto bottom() const -> double { return row(m_ranks); }
    [[nodiscard]] auto across(double time) const -> double { return m_layout.panel * time / m_range; }
    [[nodiscard]] auto quantity(ticks time) const -> std::string {
        return in_unit(as_double(time), 2) + " " + std::string(m_unit.name);
    }

    void rank_axis() {
        std::size_t every = 1;
        while (m_layout.row * static_cast<double>(every) < 14) every *= 2;
        for (std::size_t rank = 0; rank < m_ranks; rank += every)
            text(left - 8, row(rank) + m_layout.row * 0.5 + 4, "end", std::to_string(rank));
        text(left - 8, top - 8, "end", "rank");
    }
    void time_axis(double x) {
        int const digits = m_division / m_unit.ticks < 0.999 ? 1 : 0;
        auto const divisions = std::lround(m_range / m_division);
        for (long i = 0; i <= divisions; ++i) {
            double const time = static_cast<double>(i) * m_division;
            double const at = x + across(time);
            line(at, top, at, bottom(), "#e5e7eb", "stroke-width=\"1\"");
            text(at, bottom() + 16, "middle", in_unit(time, digits));
        }
        line(x, bottom(), x + m_layout.panel, bottom(), "#6b7280", "stroke-width=\"1\"");
        text(x + m_layout.panel / 2, bottom() + 32, "middle",
             "time since the first arrival [" + std::string(m_unit.name) + "]");
    }
    /// The last arrival, and what follows from arrivals and exits.
    void measures(double x, std::span<ticks const> arrivals, std::span<ticks const> exits) {
        double const last = x + across(as_double(imbalance(arrivals)));
        line(last, top - 4, last, bottom() + 4, last_colour, "stroke-width=\"1.5\" stroke-dasharray=\"5 3\"");
        text(x, bottom() + 50, "start",
             "last delay " + quantity(last_delay(arrivals, exits)) + ", mean elapsed time " +
                 quantity(mean_elapsed(arrivals, exits)));
    }
    /// Explains what is before the arrival at `x`, and the line of the last arrival at `last`.
    void legend_of_arrivals(double x, double last, double y) {
        rectangle(x, y - 6, 22, 3, before_colour);
        text(x + 28, y, "start", "not there yet");
        line(last, y - 12, last, y + 3, last_colour, "stroke-width=\"1.5\" stroke-dasharray=\"5 3\"");
        text(last + 10, y, "start", "last arrival");
    }

    void rectangle(double x, double y, double width, double height, std::string_view colour,
                   std::string_view style = "") {
        m_out += "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(width) +
                 "\" height=\"" + number(height) + "\" fill=\"" + std::string(colour) + "\"" +
                 std::string(style) + "/>\n";
    }
    void line(double x1, double y1, double x2, double y2, std::string_view colour, std::string_view style) {
        m_out += "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) + "\" y2=\"" +
                 number(y2) + "\" stroke=\"" + std::string(colour) + "\" " + std::string(style) + "/>\n";
    }
    void text(double x, double y, std::string_view anchor, std::string_view content,
              std::string_view style = "") {
        m_out += "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" +
                 std::string(anchor) + "\" " + std::string(style) + ">" + xml_escaped(content) + "</text>\n";
    }

    [[nodiscard]] auto document(double width, double height, std::string_view title) const -> std::string {
        time_chart frame(*this);
        frame.m_out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width) + "\" height=\"" +
                      number(height) + "\" viewBox=\"0 0 " + number(width) + " " + number(height) +
                      "\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#1f2937\">\n";
        frame.rectangle(0, 0, width, height, "#ffffff");
        frame.text(left, 24, "start", title, "font-size=\"16\" font-weight=\"bold\"");
        return frame.m_out + m_out + "</svg>\n";
    }

private:
    [[nodiscard]] auto in_unit(double time, int digits) const -> std::string {
        return fixed(time / m_unit.ticks, digits);
    }

    std::size_t m_ranks;
    layout m_layout;
    time_unit m_unit;
    double m_division;
    double m_range;
    std::string m_out;
};

} // namespace papcoll::inline v0::detail
