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

namespace papcoll::inline v0 {

/// One execution of a collective: when each rank arrived and left, on one clock of any origin.
struct timeline_group {
    std::string label = {};
    std::span<ticks const> arrivals = {};
    std::span<ticks const> exits = {};
};

namespace detail {

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

/// Panels side by side, one per group, with one time scale and one row per rank.
class timeline_drawing {
public:
    timeline_drawing(std::span<timeline_group const> groups, std::string_view title)
        : m_groups(groups)
        , m_title(title) {
        if (groups.empty())
            throw std::invalid_argument("papcoll: groups to draw must be at least 1, but are empty");
        double longest = 1;
        for (auto const& group : groups) {
            longest = std::max(longest, as_double(run_time(group.arrivals, group.exits)));
            m_ranks = std::max(m_ranks, group.arrivals.size());
        }
        m_unit = unit_for(longest);
        m_division = round_division(longest, 6);
        m_range = m_division * std::ceil(longest / m_division);
        m_row = std::clamp(420.0 / static_cast<double>(m_ranks), 7.0, 22.0);
    }

    [[nodiscard]] auto run() -> std::string {
        auto const count = static_cast<double>(m_groups.size());
        double const width = left + count * (panel + gap);
        double const height = bottom() + 96;
        m_out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width) + "\" height=\"" +
                number(height) + "\" viewBox=\"0 0 " + number(width) + " " + number(height) +
                "\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#1f2937\">\n";
        rectangle(0, 0, width, height, "#ffffff");
        text(left, 24, "start", m_title, "font-size=\"16\" font-weight=\"bold\"");
        rank_axis();
        double x = left;
        for (auto const& group : m_groups) {
            draw(group, x);
            x += panel + gap;
        }
        legend(bottom() + 80);
        return m_out + "</svg>\n";
    }

private:
    static constexpr double left = 56;
    static constexpr double top = 60;
    static constexpr double panel = 440;
    static constexpr double gap = 36;
    static constexpr std::string_view before_colour = "#c9ced6";
    static constexpr std::string_view inside_colour = "#4a7fc1";
    static constexpr std::string_view last_colour = "#c2410c";

    static auto as_double(ticks time) -> double { return static_cast<double>(time.count()); }
    static auto number(double value) -> std::string { return fixed(value, 1); }
    [[nodiscard]] auto bottom() const -> double { return top + m_row * static_cast<double>(m_ranks); }
    [[nodiscard]] auto across(double time) const -> double { return panel * time / m_range; }
    [[nodiscard]] auto in_unit(double time, int digits) const -> std::string {
        return fixed(time / m_unit.ticks, digits);
    }

    void rank_axis() {
        std::size_t every = 1;
        while (m_row * static_cast<double>(every) < 14) every *= 2;
        for (std::size_t rank = 0; rank < m_ranks; rank += every)
            text(left - 8, top + m_row * (static_cast<double>(rank) + 0.5) + 4, "end", std::to_string(rank));
        text(left - 8, top - 8, "end", "rank");
    }

    void draw(timeline_group const& group, double x) {
        text(x, top - 10, "start", group.label, "font-weight=\"bold\"");
        time_axis(x);
        double const origin = as_double(earliest(group.arrivals));
        for (std::size_t rank = 0; rank < group.arrivals.size(); ++rank) {
            double const arrival = across(as_double(group.arrivals[rank]) - origin);
            double const exit = across(as_double(group.exits[rank]) - origin);
            double const y = top + m_row * static_cast<double>(rank);
            rectangle(x, y + m_row * 0.42, arrival, m_row * 0.16, before_colour);
            rectangle(x + arrival, y + m_row * 0.14, std::max(exit - arrival, 1.0), m_row * 0.72,
                      inside_colour);
        }
        double const last = x + across(as_double(imbalance(group.arrivals)));
        line(last, top - 4, last, bottom() + 4, last_colour, "stroke-width=\"1.5\" stroke-dasharray=\"5 3\"");
        text(x, bottom() + 50, "start",
             "last delay " + quantity(last_delay(group.arrivals, group.exits)) + ", mean elapsed time " +
                 quantity(mean_elapsed(group.arrivals, group.exits)));
    }

    [[nodiscard]] auto quantity(ticks time) const -> std::string {
        return in_unit(as_double(time), 2) + " " + std::string(m_unit.name);
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
        line(x, bottom(), x + panel, bottom(), "#6b7280", "stroke-width=\"1\"");
        text(x + panel / 2, bottom() + 32, "middle",
             "time since the first arrival [" + std::string(m_unit.name) + "]");
    }

    void legend(double y) {
        rectangle(left, y - 6, 22, 3, before_colour);
        text(left + 28, y, "start", "not there yet");
        rectangle(left + 132, y - 10, 22, 11, inside_colour);
        text(left + 160, y, "start", "from arrival to exit");
        line(left + 306, y - 12, left + 306, y + 3, last_colour,
             "stroke-width=\"1.5\" stroke-dasharray=\"5 3\"");
        text(left + 316, y, "start", "last arrival");
    }

    void rectangle(double x, double y, double width, double height, std::string_view colour) {
        m_out += "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(width) +
                 "\" height=\"" + number(height) + "\" fill=\"" + std::string(colour) + "\"/>\n";
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

    std::span<timeline_group const> m_groups;
    std::string_view m_title;
    std::size_t m_ranks = 1;
    time_unit m_unit{};
    double m_division = 1; // all in ticks, the row height in pixels
    double m_range = 1;
    double m_row = 1;
    std::string m_out;
};

} // namespace detail

/// Draws who arrived and left when, as an SVG document: ranks downwards, time to the right from the first
/// arrival of each group, groups side by side on one scale, the last arrival marked, last delay and mean
/// elapsed time beneath. Meant for up to some 64 ranks and a few groups. Throws std::invalid_argument without
/// groups or ranks, or when arrivals and exits differ in number.
[[nodiscard]] inline auto draw_timeline(std::span<timeline_group const> groups, std::string_view title = "")
    -> std::string {
    return detail::timeline_drawing(groups, title).run();
}

} // namespace papcoll::inline v0
