// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/analysis/detail/execution_drawing.hpp>
#include <papcoll/analysis/detail/execution_picture.hpp>
#include <papcoll/analysis/detail/time_chart.hpp>
#include <papcoll/analysis/metrics.hpp>
#include <papcoll/analysis/simulate.hpp>
#include <papcoll/analysis/timeline.hpp>
#include <papcoll/schedule/problem.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace papcoll::inline v0 {

/// One execution of a collective: when each rank arrived and left, on one clock of any origin.
struct timeline_group {
    /// What is written beside the ranks.
    std::string label = {};
    /// When each rank arrived.
    std::span<ticks const> arrivals = {};
    /// When each rank left.
    std::span<ticks const> exits = {};
};

namespace detail {

/// Panels side by side, one per group, with one time scale and one row per rank.
class timeline_drawing {
public:
    timeline_drawing(std::span<timeline_group const> groups, std::string_view title)
        : m_groups(groups)
        , m_title(title)
        , m_chart(chart_for(groups)) {}

    [[nodiscard]] auto run() -> std::string {
        m_chart.rank_axis();
        double x = time_chart::left;
        for (auto const& group : m_groups) {
            draw(group, x);
            x += panel + gap;
        }
        legend(m_chart.bottom() + 80);
        return m_chart.document(x, m_chart.bottom() + 96, m_title);
    }

private:
    static constexpr double panel = 440;
    static constexpr double gap = 36;
    static constexpr std::string_view inside_colour = "#4a7fc1";

    static auto chart_for(std::span<timeline_group const> groups) -> time_chart {
        if (groups.empty())
            throw std::invalid_argument("papcoll: groups to draw must be at least 1, but are empty");
        double longest = 1;
        std::size_t ranks = 1;
        for (auto const& group : groups) {
            longest = std::max(longest, time_chart::as_double(run_time(group.arrivals, group.exits)));
            ranks = std::max(ranks, group.arrivals.size());
        }
        return {ranks, longest, {panel, std::clamp(420.0 / static_cast<double>(ranks), 7.0, 22.0), 6}};
    }

    void draw(timeline_group const& group, double x) {
        m_chart.text(x, time_chart::top - 10, "start", group.label, "font-weight=\"bold\"");
        m_chart.time_axis(x);
        ticks const origin = earliest(group.arrivals);
        double const row = m_chart.row_height();
        for (std::size_t rank = 0; rank < group.arrivals.size(); ++rank) {
            double const arrival = m_chart.across(time_chart::as_double(group.arrivals[rank] - origin));
            double const exit = m_chart.across(time_chart::as_double(group.exits[rank] - origin));
            double const y = m_chart.row(rank);
            m_chart.rectangle(x, y + row * 0.42, arrival, row * 0.16, time_chart::before_colour);
            m_chart.rectangle(x + arrival, y + row * 0.14, std::max(exit - arrival, 1.0), row * 0.72,
                              inside_colour);
        }
        m_chart.measures(x, group.arrivals, group.exits);
    }

    void legend(double y) {
        double const left = time_chart::left;
        m_chart.legend_of_arrivals(left, left + 306, y);
        m_chart.rectangle(left + 132, y - 10, 22, 11, inside_colour);
        m_chart.text(left + 160, y, "start", "from arrival to exit");
    }

    std::span<timeline_group const> m_groups;
    std::string_view m_title;
    time_chart m_chart;
};

} // namespace detail

/// Draws who arrived and left when, as an SVG document: ranks downwards, time to the right from the first
/// arrival of each group, groups side by side on one scale, the last arrival marked, last delay and mean
/// elapsed time beneath, `title` above. Meant for up to some 64 ranks and a few groups. Throws
/// std::invalid_argument without groups or ranks, or when arrivals and exits differ in number.
[[nodiscard]] inline auto draw_timeline(std::span<timeline_group const> groups, std::string_view title = "")
    -> std::string {
    return detail::timeline_drawing(groups, title).run();
}

/// Draws a simulated schedule, as an SVG document on the same axes: in the row of each rank what it sends,
/// receives and combines, coloured by block, from its arrival to its exit; the last arrival marked; lines
/// from sender to receiver where there are few enough to follow; `title` above. Meant for 8 to 64 ranks.
/// Throws std::invalid_argument without ranks, or when arrivals and exits differ in number.
///
///     std::ofstream("schedule.svg") << draw(simulate_timeline(scheduler, problem, model, block_bytes));
[[nodiscard]] inline auto draw(schedule_timeline const& timeline, std::string_view title = "")
    -> std::string {
    return detail::execution_drawing(detail::picture_of(timeline), title).run();
}

/// The same for simulated programs. A message is coloured by how many its sender has sent before. What ranks
/// post to the memory of their node, and when others have seen it, are lines across their lanes, joined where
/// there are few. `title` stands above.
///
///     std::ofstream("program.svg") << draw(simulate_timeline(programs, arrivals, model, element_bytes));
[[nodiscard]] inline auto draw(program_timeline const& timeline, std::string_view title = "") -> std::string {
    return detail::execution_drawing(detail::picture_of(timeline), title).run();
}

} // namespace papcoll::inline v0
