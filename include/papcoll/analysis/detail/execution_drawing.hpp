// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis/detail/execution_picture.hpp>
#include <papcoll/analysis/detail/time_chart.hpp>
#include <papcoll/analysis/metrics.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

namespace papcoll::inline v0::detail {

/// Colours from blue over green and yellow to red, of one lightness, for 0 ≤ fraction ≤ 1.
inline auto colour_of(double fraction) -> std::string {
    constexpr std::string_view digits = "0123456789abcdef";
    double const sixth = 4.0 - 4.0 * fraction; // of the circle of hues, from 240° down to 0°
    std::string colour = "#";
    for (double const shift : {0.0, 4.0, 2.0}) {
        double const distance = std::abs(std::fmod(sixth + shift, 6.0) - 3.0);
        double const channel = std::clamp(distance - 1.0, 0.0, 1.0);
        auto const value = static_cast<std::size_t>(std::lround(112.0 + 128.0 * channel));
        colour += digits[value / 16];
        colour += digits[value % 16];
    }
    return colour;
}

/// One panel; in each rank's row a lane for what it sends, one for what it receives and, if anything is
/// combined, one for that.
class execution_drawing {
public:
    execution_drawing(execution_picture const& picture, std::string_view title)
        : m_picture(picture)
        , m_title(title)
        , m_origin((require_pairs(picture.arrivals, picture.exits), earliest(picture.arrivals)))
        , m_lane(picture.combinations.empty() ? 0.42 : 0.28)
        , m_chart(picture.arrivals.size(),
                  std::max(1.0, time_chart::as_double(run_time(picture.arrivals, picture.exits))),
                  {panel, std::clamp(1152.0 / static_cast<double>(picture.arrivals.size()), 8.0, 44.0), 10}) {
    }

    [[nodiscard]] auto run() -> std::string {
        for (std::size_t rank = 0; rank < m_picture.arrivals.size(); ++rank) stay(rank);
        m_chart.rank_axis();
        m_chart.time_axis(time_chart::left);
        for (auto const& m : m_picture.messages) draw(m);
        for (auto const& c : m_picture.combinations)
            box(c.rank, 2, c.begin, c.end, colour(c.colour), " stroke=\"#111827\" stroke-width=\"0.6\"",
                c.text);
        for (auto const& s : m_picture.signs) draw(s);
        m_chart.measures(time_chart::left, m_picture.arrivals, m_picture.exits);
        legend(m_chart.bottom() + 80);
        return m_chart.document(time_chart::left + panel + 36, m_chart.bottom() + 96, m_title);
    }

private:
    static constexpr double panel = 1160;
    static constexpr std::string_view sign_colour = "#7c3aed";

    [[nodiscard]] auto x(ticks time) const -> double {
        return time_chart::left + m_chart.across(time_chart::as_double(time - m_origin));
    }
    [[nodiscard]] auto lane(int rank, int which) const -> double {
        return m_chart.row(static_cast<std::size_t>(rank)) + m_chart.row_height() * (0.08 + m_lane * which);
    }
    [[nodiscard]] auto colour(int number) const -> std::string {
        int const last = m_picture.last_colour;
        return last == 0 ? "#8ab0e0" : colour_of(static_cast<double>(number) / last);
    }

    void stay(std::size_t rank) {
        double const y = m_chart.row(rank);
        double const arrival = x(m_picture.arrivals[rank]);
        m_chart.rectangle(time_chart::left, y + m_chart.row_height() * 0.42, arrival - time_chart::left,
                          m_chart.row_height() * 0.16, time_chart::before_colour);
        m_chart.rectangle(arrival, y + m_chart.row_height() * 0.05,
                          std::max(x(m_picture.exits[rank]) - arrival, 1.0), m_chart.row_height() * 0.9,
                          "#eef1f5");
    }
    void draw(execution_picture::message const& m) {
        box(m.from, 0, m.begin, m.end, colour(m.colour), "", m.at_sender);
        box(m.to, 1, m.begin, m.end, colour(m.colour), " fill-opacity=\"0.45\"", m.at_receiver);
        // Arrows show a tree; of a dense schedule they would hide everything.
        if (m_picture.messages.size() > 3 * m_picture.arrivals.size()) return;
        double const half = m_chart.row_height() * m_lane / 2;
        m_chart.line(x(m.begin), lane(m.from, 0) + half, x(m.end), lane(m.to, 1) + half, "#374151",
                     "stroke-width=\"1\" stroke-opacity=\"0.7\"");
    }
    void draw(execution_picture::sign const& s) {
        tick(s.from, 0, s.posted);
        tick(s.to, 1, s.seen);
        if (m_picture.signs.size() > 3 * m_picture.arrivals.size()) return;
        double const half = m_chart.row_height() * m_lane / 2;
        m_chart.line(x(s.posted), lane(s.from, 0) + half, x(s.seen), lane(s.to, 1) + half, sign_colour,
                     "stroke-width=\"1\" stroke-dasharray=\"3 2\"");
    }
    void tick(int rank, int which, ticks when) {
        double const y = lane(rank, which);
        m_chart.line(x(when), y, x(when), y + m_chart.row_height() * m_lane, sign_colour,
                     "stroke-width=\"1.5\"");
    }
    void box(int rank, int which, ticks begin, ticks end, std::string const& fill, std::string const& style,
             std::string const& text) {
        double const width = std::max(x(end) - x(begin), 0.6);
        double const height = m_chart.row_height() * m_lane;
        double const y = lane(rank, which);
        double const gap = std::min(0.6, width / 8);
        m_chart.rectangle(x(begin), y + 0.3, width - gap, height - 0.6, fill, style);
        if (width < 7.0 * static_cast<double>(text.size()) + 2 || height < 9) return;
        m_chart.text(x(begin) + width / 2, y + height / 2 + 3.2, "middle", text, "font-size=\"9\"");
    }

    void legend(double y) {
        double const left = time_chart::left;
        m_chart.legend_of_arrivals(left, left + 140, y);
        m_chart.rectangle(left + 250, y - 10, 22, 11, "#eef1f5");
        m_chart.text(left + 278, y, "start", "from arrival to exit");
        bool const combines = !m_picture.combinations.empty();
        m_chart.text(left + 430, y, "start",
                     combines ? "lanes of a rank: sends, receives (pale), combines (framed)"
                              : "lanes of a rank: sends, receives (pale)");
        if (!m_picture.signs.empty())
            m_chart.text(left + 430, y + 14, "start",
                         "lines across the lane of sends: posts to the node; of receives: awaits");
        if (m_picture.last_colour == 0) return;
        double const at = left + 850;
        m_chart.text(at - 8, y, "end", std::string(m_picture.coloured) + " 0");
        for (int i = 0; i <= 20; ++i) m_chart.rectangle(at + 5 * i, y - 10, 5, 11, colour_of(i / 20.0));
        m_chart.text(at + 113, y, "start", std::to_string(m_picture.last_colour));
    }

    execution_picture const& m_picture;
    std::string_view m_title;
    ticks m_origin;
    double m_lane; // of the height of a row
    time_chart m_chart;
};

} // namespace papcoll::inline v0::detail
