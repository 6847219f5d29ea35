// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "measure.hpp"

namespace bench {

/// What one link can carry: of a rate on an Ethernet wire TCP leaves 1448 of 1514 bytes for payload.
struct link_rate {
    double bits_per_second;

    [[nodiscard]] auto time_of(std::size_t bytes) const -> ticks {
        double const seconds = static_cast<double>(bytes) * 8 * 1514 / 1448 / bits_per_second;
        return ticks{static_cast<ticks::rep>(seconds * 1e9)};
    }
};

/// Parses a rate as tc writes it: 100mbit, 1gbit, 500kbit.
inline auto parse_rate(std::string const& text) -> link_rate {
    std::size_t used = 0;
    double value = 0;
    try {
        value = std::stod(text, &used);
    } catch (std::exception const&) {
        used = 0;
    }
    auto const unit = text.substr(used);
    double const scale = unit == "kbit" ? 1e3 : unit == "mbit" ? 1e6 : unit == "gbit" ? 1e9 : 0;
    if (used == 0 || !(value > 0) || scale == 0)
        throw std::invalid_argument("a rate is a number and kbit, mbit or gbit, such as 100mbit, not " +
                                    text);
    return {value * scale};
}

/// One row: a policy under a pattern at a size.
struct row {
    std::string operation;
    std::string policy;
    std::size_t count = 0;
    std::string pattern;
    double factor = 0; ///< of the base time
    ticks magnitude{0};
    std::vector<ticks> planned; ///< the arrivals that were asked for, and that the schedule knows
    std::vector<repetition> runs;
    ticks native_last_delay{0}; ///< median; 0: native was not measured
    ticks bound{0};             ///< 0: no rate given
    std::optional<schedule_facts> facts = {};
    ticks needed{0}; ///< rounds after the last arrival × one segment's link time
};

/// How far the machine missed the planned arrivals at worst.
inline auto lateness(row const& r) -> ticks {
    ticks worst{0};
    for (auto const& run : r.runs)
        for (std::size_t rank = 0; rank < run.arrivals.size(); ++rank)
            worst = std::max(worst, run.arrivals[rank] - r.planned[rank]);
    return worst;
}

inline auto milliseconds(ticks time) -> double { return static_cast<double>(time.count()) * 1e-6; }

/// "1.23", or "-" where one of the two was not measured.
inline auto ratio(ticks value, ticks base) -> std::string {
    if (value <= ticks{0} || base <= ticks{0}) return "-";
    char text[32];
    std::snprintf(text, sizeof text, "%.2f",
                  static_cast<double>(value.count()) / static_cast<double>(base.count()));
    return text;
}

class table {
public:
    void print(row const& r) {
        if (!m_headed) head();
        auto const delay = summarise(r.runs, &repetition::last_delay);
        std::printf("%-8s %9zu %-13s %6.2f %9.1f  %-18s %9.2f %9.2f %9.2f %7s %7s %7s %9.2f %9.2f\n",
                    r.operation.c_str(), r.count, r.pattern.c_str(), r.factor, milliseconds(r.magnitude),
                    r.policy.c_str(), milliseconds(delay.median), milliseconds(delay.least),
                    milliseconds(delay.most), ratio(delay.median, r.bound).c_str(),
                    ratio(delay.median, r.needed).c_str(), ratio(r.native_last_delay, delay.median).c_str(),
                    milliseconds(summarise(r.runs, &repetition::run_time).median),
                    milliseconds(summarise(r.runs, &repetition::mean_elapsed).median));
        std::fflush(stdout);
    }

private:
    void head() {
        m_headed = true;
        std::printf("%-8s %9s %-13s %6s %9s  %-18s %9s %9s %9s %7s %7s %7s %9s %9s\n", "", "", "", "× base",
                    "spread", "", "last", "delay", "", "÷", "÷", "native", "run time", "elapsed");
        std::printf("%-8s %9s %-13s %6s %9s  %-18s %9s %9s %9s %7s %7s %7s %9s %9s\n", "op", "floats",
                    "pattern", "", "[ms]", "policy", "median", "min", "max", "bound", "needed", "÷ this",
                    "median", "mean");
    }

    bool m_headed = false;
};

inline auto in_json(summary const& s) -> nlohmann::json {
    return {
        {"median", milliseconds(s.median)}, {"min", milliseconds(s.least)}, {"max", milliseconds(s.most)}};
}

inline auto in_json(std::vector<ticks> const& times) -> nlohmann::json {
    auto all = nlohmann::json::array();
    for (auto const time : times) all.push_back(milliseconds(time));
    return all;
}

inline auto in_json(row const& r) -> nlohmann::json {
    nlohmann::json j{{"operation", r.operation},
                     {"policy", r.policy},
                     {"elements", r.count},
                     {"bytes", r.count * sizeof(float)},
                     {"pattern", r.pattern},
                     {"factor", r.factor},
                     {"magnitude_ms", milliseconds(r.magnitude)},
                     {"worst_lateness_ms", milliseconds(lateness(r))},
                     {"last_delay_ms", in_json(summarise(r.runs, &repetition::last_delay))},
                     {"run_time_ms", in_json(summarise(r.runs, &repetition::run_time))},
                     {"mean_elapsed_ms", in_json(summarise(r.runs, &repetition::mean_elapsed))},
                     {"arrivals_ms", in_json(typical(r.runs).arrivals)},
                     {"exits_ms", in_json(typical(r.runs).exits)}};
    if (r.bound > ticks{0}) j["bound_ms"] = milliseconds(r.bound);
    if (r.native_last_delay > ticks{0}) j["native_last_delay_ms"] = milliseconds(r.native_last_delay);
    if (r.facts) {
        j["segments"] = r.facts->segments;
        j["round_ms"] = milliseconds(r.facts->round);
        j["rounds_after_last_arrival"] = r.facts->rounds_after_last_arrival;
        if (r.needed > ticks{0}) j["needed_ms"] = milliseconds(r.needed);
    }
    return j;
}

inline void write_json(std::string const& file, nlohmann::json const& document) {
    std::ofstream out(file);
    out << document.dump(1) << '\n';
    out.close();
    if (!out) throw std::runtime_error("cannot write " + file);
}

} // namespace bench
