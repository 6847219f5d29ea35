// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../support/document.hpp"
#include "measure.hpp"

namespace bench {

/// One row: a policy under a pattern at a size.
struct row {
    std::string operation;
    std::string policy;
    std::size_t count = 0;
    std::string pattern;
    double factor = 0; ///< of the base time
    ticks magnitude{0};
    repetitions const& runs;
    std::optional<double> native_delay = {}; ///< medians, in ms
    std::optional<double> bound = {};
    std::optional<double> predicted = {}; ///< by the model
    std::optional<double> needed = {};    ///< rounds after the last arrival × one segment's link time
    std::optional<double> to_true = {};   ///< last delay ÷ that with true arrivals, median of pairs
    std::optional<schedule_facts> facts = {};
};

/// How far the machine missed the planned arrivals at worst.
[[nodiscard]] inline auto lateness(repetitions const& runs) -> double {
    ticks worst{0};
    for (auto const& run : runs)
        for (std::size_t rank = 0; rank < run.arrivals.size(); ++rank)
            worst = std::max(worst, run.arrivals[rank] - run.planned[rank]);
    return milliseconds(worst);
}
/// By how much the monitor was wrong, in ms.
[[nodiscard]] inline auto prediction_error(repetitions const& runs) -> std::optional<double> {
    std::vector<double> errors;
    for (auto const& run : runs)
        if (run.prediction_error) errors.push_back(*run.prediction_error);
    return errors.empty() ? std::nullopt : std::optional(mean(errors));
}

[[nodiscard]] inline auto text_of(double value) -> std::string {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", value);
    return text;
}
/// "-" where one of the two was not measured.
[[nodiscard]] inline auto ratio(std::optional<double> value, std::optional<double> base) -> std::string {
    return value && base && *base > 0 ? text_of(*value / *base) : "-";
}

/// A table on standard output whose columns are those of its first row; what later rows have beyond them is
/// named there.
class table {
public:
    using cells = std::vector<std::pair<char const*, std::string>>;

    void print(cells const& row) {
        if (m_widths.empty()) head(row);
        for (std::size_t i = 0; i < row.size(); ++i)
            if (i < m_widths.size())
                put(row[i].second, m_widths[i]);
            else
                std::printf(" %s %s", row[i].first, row[i].second.c_str());
        std::printf("\n");
        std::fflush(stdout);
    }

private:
    void head(cells const& row) {
        for (auto const& [title, value] : row) m_widths.push_back(std::max(size(title), size(value)) + 1);
        for (std::size_t i = 0; i < 4 && i < m_widths.size(); ++i)
            m_widths[i] = std::max<std::size_t>(m_widths[i], i == 0 || i == 3 ? 22 : 13);
        for (std::size_t i = 0; i < row.size(); ++i) put(row[i].first, m_widths[i]);
        std::printf("\n");
    }
    /// In characters, of which some are several bytes.
    static auto size(std::string const& text) -> std::size_t {
        return static_cast<std::size_t>(
            std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
    }
    static void put(std::string const& text, std::size_t width) {
        std::printf("%s%s ", std::string(width > size(text) ? width - size(text) : 0, ' ').c_str(),
                    text.c_str());
    }

    std::vector<std::size_t> m_widths;
};

[[nodiscard]] inline auto cells_of(row const& r) -> table::cells {
    auto const delay = summarise(r.runs, &repetition::last_delay);
    auto const run = summarise(r.runs, &repetition::run_time);
    auto const elapsed = summarise(r.runs, &repetition::mean_elapsed);
    table::cells cells{{"operation", r.operation},
                       {"floats", std::to_string(r.count)},
                       {"pattern", r.pattern + (r.factor > 0 ? " " + text_of(r.factor) : "")},
                       {"policy", r.policy},
                       {"spread/ms", text_of(milliseconds(r.magnitude))},
                       {"last delay/ms", text_of(delay.median)},
                       {"least", text_of(delay.min)},
                       {"most", text_of(delay.max)},
                       {"÷ bound", ratio(delay.median, r.bound)},
                       {"÷ needed", ratio(delay.median, r.needed)},
                       {"native ÷ this", ratio(r.native_delay, delay.median)},
                       {"run time/ms", text_of(run.median)},
                       {"elapsed/ms", text_of(elapsed.median)}};
    if (r.facts && r.facts->segments > 0) cells.emplace_back("blocks", std::to_string(r.facts->segments));
    if (r.predicted) cells.emplace_back("predicted/ms", text_of(*r.predicted));
    if (r.to_true) cells.emplace_back("÷ true", text_of(*r.to_true));
    if (auto const error = prediction_error(r.runs)) cells.emplace_back("wrong by/ms", text_of(*error));
    return cells;
}

[[nodiscard]] inline auto in_json(std::vector<ticks> const& times) -> nlohmann::json {
    auto all = nlohmann::json::array();
    for (auto const time : times) all.push_back(milliseconds(time));
    return all;
}

[[nodiscard]] inline auto in_json(row const& r) -> nlohmann::json {
    nlohmann::json j{{"operation", r.operation},
                     {"policy", r.policy},
                     {"elements", r.count},
                     {"bytes", r.count * sizeof(float)},
                     {"pattern", r.pattern},
                     {"factor", r.factor},
                     {"magnitude_ms", milliseconds(r.magnitude)},
                     {"worst_lateness_ms", lateness(r.runs)},
                     {"last_delay_ms", in_json(summarise(r.runs, &repetition::last_delay))},
                     {"run_time_ms", in_json(summarise(r.runs, &repetition::run_time))},
                     {"mean_elapsed_ms", in_json(summarise(r.runs, &repetition::mean_elapsed))},
                     {"arrivals_ms", in_json(typical(r.runs).arrivals)},
                     {"exits_ms", in_json(typical(r.runs).exits)}};
    auto const put = [&](char const* key, std::optional<double> value) {
        if (value) j[key] = *value;
    };
    put("native_last_delay_ms", r.native_delay);
    put("bound_ms", r.bound);
    put("needed_ms", r.needed);
    put("predicted_last_delay_ms", r.predicted);
    put("last_delay_to_true", r.to_true);
    put("prediction_error_ms", prediction_error(r.runs));
    if (!r.facts) return j;
    j["segments"] = r.facts->segments;
    j["segment_bytes"] = r.facts->segment_bytes;
    j["round_ms"] = milliseconds(r.facts->round);
    j["rounds_after_last_arrival"] = r.facts->rounds_after_last_arrival;
    return j;
}

} // namespace bench
