// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis/detail/time_chart.hpp>
#include <papcoll/analysis/metrics.hpp>
#include <papcoll/analysis/simulate.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace papcoll::inline v0::detail {

/// Colours from blue over green and yellow to red, of one lightness, for 0 ≤ fraction ≤ 1.
inline auto block_colour(double fraction) -> std::string {
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
class schedule_drawing {
public:
    schedule_drawing(schedule_timeline const& timeline, std::string_view title)
        : m_timeline(timeline)
        , m_title(title)
        , m_origin((require_pairs(timeline.arrivals, timeline.exits), earliest(timeline.arrivals)))
        , m_lane(timeline.combinations.empty() ? 0.42 : 0.28)
        , m_chart(
              timeline.arrivals.size(),
              std::max(1.0, time_chart::as_double(run_time(timeline.arrivals, timeline.exits))),
              {panel, std::clamp(1152.0 / static_cast<double>(timeline.arrivals.size()), 8.0, 44.0), 10}) {
        for (auto const& t : timeline.transfers) m_last_block = std::max(m_last_block, t.what.block);
    }

    [[nodiscard]] auto run() -> std::string {
        for (std::size_t rank = 0; rank < m_timeline.arrivals.size(); ++rank) stay(rank);
        m_chart.rank_axis();
        m_chart.time_axis(time_chart::left);
        auto const& all = m_timeline.transfers;
        for (std::size_t i = 0; i < all.size();) {
            std::size_t next = i + 1;
            while (next < all.size() && same_message(all[i].what, all[next].what)) ++next;
            message(std::span(all).subspan(i, next - i));
            i = next;
        }
        for (auto const& c : m_timeline.combinations)
            box(c.what.to, 2, c.begin, c.end, colour(c.what.block),
                " stroke=\"#111827\" stroke-width=\"0.6\"", label(c.what.block));
        m_chart.measures(time_chart::left, m_timeline.arrivals, m_timeline.exits);
        legend(m_chart.bottom() + 80);
        return m_chart.document(time_chart::left + panel + 36, m_chart.bottom() + 96, m_title);
    }

private:
    static constexpr double panel = 1160;

    static auto same_message(transfer const& a, transfer const& b) -> bool {
        return a.step == b.step && a.from == b.from && a.to == b.to;
    }
    [[nodiscard]] auto x(ticks time) const -> double {
        return time_chart::left + m_chart.across(time_chart::as_double(time - m_origin));
    }
    [[nodiscard]] auto lane(int rank, int which) const -> double {
        return m_chart.row(static_cast<std::size_t>(rank)) + m_chart.row_height() * (0.08 + m_lane * which);
    }
    [[nodiscard]] auto colour(int block) const -> std::string {
        return m_last_block == 0 ? "#8ab0e0" : block_colour(static_cast<double>(block) / m_last_block);
    }
    [[nodiscard]] auto label(int block) const -> std::string {
        return m_last_block == 0 ? "" : std::to_string(block);
    }

    /// The block; the peer where there is only one block at all.
    [[nodiscard]] auto message_label(std::span<timed_transfer const> blocks, char const* way, int peer) const
        -> std::string {
        if (m_last_block == 0) return way + std::to_string(peer);
        return blocks.size() == 1 ? label(blocks.front().what.block)
                                  : std::to_string(blocks.size()) + " blocks";
    }

    void stay(std::size_t rank) {
        double const y = m_chart.row(rank);
        double const arrival = x(m_timeline.arrivals[rank]);
        m_chart.rectangle(time_chart::left, y + m_chart.row_height() * 0.42, arrival - time_chart::left,
                          m_chart.row_height() * 0.16, time_chart::before_colour);
        m_chart.rectangle(arrival, y + m_chart.row_height() * 0.05,
                          std::max(x(m_timeline.exits[rank]) - arrival, 1.0), m_chart.row_height() * 0.9,
                          "#eef1f5");
    }
    void message(std::span<timed_transfer const> blocks) {
        auto const& [what, begin, end] = blocks.front();
        box(what.from, 0, begin, end, colour(what.block), "", message_label(blocks, "to ", what.to));
        box(what.to, 1, begin, end, colour(what.block), " fill-opacity=\"0.45\"",
            message_label(blocks, "from ", what.from));
        // Arrows show a tree; of a dense schedule they would hide everything.
        if (m_timeline.transfers.size() > 3 * m_timeline.arrivals.size()) return;
        double const half = m_chart.row_height() * m_lane / 2;
        m_chart.line(x(begin), lane(what.from, 0) + half, x(end), lane(what.to, 1) + half, "#374151",
                     "stroke-width=\"1\" stroke-opacity=\"0.7\"");
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
        bool const combines = !m_timeline.combinations.empty();
        m_chart.text(left + 430, y, "start",
                     combines ? "lanes of a rank: sends, receives (pale), combines (framed)"
                              : "lanes of a rank: sends, receives (pale)");
        if (m_last_block == 0) return;
        double const at = left + 850;
        m_chart.text(at - 8, y, "end", "block 0");
        for (int i = 0; i <= 20; ++i) m_chart.rectangle(at + 5 * i, y - 10, 5, 11, block_colour(i / 20.0));
        m_chart.text(at + 113, y, "start", label(m_last_block));
    }

    schedule_timeline const& m_timeline;
    std::string_view m_title;
    ticks m_origin;
    double m_lane; // of the height of a row
    time_chart m_chart;
    int m_last_block = 0;
};

} // namespace papcoll::inline v0::detail
