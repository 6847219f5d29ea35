// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "options.hpp"

#include <stdexcept>

namespace bench {
namespace {

/// The number at the beginning of `text`, of which the unit is left; 0: there is none.
auto cut_number(std::string& text) -> double {
    try {
        std::size_t used = 0;
        double const value = std::stod(text, &used);
        text.erase(0, used);
        return value;
    } catch (std::exception const&) {
        text = "?";
        return 0;
    }
}

} // namespace

auto parse_size(std::string const& text) -> std::size_t {
    auto unit = text;
    double const value = cut_number(unit);
    double scale = 1;
    if (auto const prefix = unit.substr(0, 2); prefix == "Ki" || prefix == "Mi" || prefix == "Gi") {
        scale = prefix == "Ki" ? 0x1p10 : prefix == "Mi" ? 0x1p20 : 0x1p30;
        unit.erase(0, 2);
    }
    if (unit == "f") scale *= sizeof(float);
    if (!(value >= 0 && value * scale < 0x1p62) || (!unit.empty() && unit != "B" && unit != "f"))
        throw std::invalid_argument("a size is a number of bytes such as 64, 64Ki or 4MiB, or of floats such "
                                    "as 1024f, not " +
                                    text);
    return static_cast<std::size_t>(value * scale);
}

auto parse_sizes(std::vector<std::string> const& words) -> std::vector<std::size_t> {
    std::vector<std::size_t> sizes;
    for (auto const& word : words) {
        auto const colon = word.find(':');
        if (colon == std::string::npos) {
            sizes.push_back(parse_size(word));
            continue;
        }
        auto const second = word.find(':', colon + 1);
        auto const last = parse_size(word.substr(colon + 1, second - colon - 1));
        auto const factor = second == std::string::npos ? 2 : parse_size(word.substr(second + 1));
        auto size = parse_size(word.substr(0, colon));
        if (factor < 2 || size == 0) throw std::invalid_argument("the range " + word + " has no end");
        for (; size <= last; size *= factor) {
            sizes.push_back(size);
            if (size > last / factor) break; // the next could be no number any more
        }
    }
    return sizes;
}

void add_sizes(CLI::App& app, std::vector<std::size_t>& sizes, std::string const& description) {
    app.add_option_function<std::vector<std::string>>(
           "--sizes",
           [&sizes](std::vector<std::string> const& words) {
               try {
                   sizes = parse_sizes(words);
               } catch (std::invalid_argument const& error) {
                   throw CLI::ValidationError("--sizes", error.what());
               }
           },
           description + ", in bytes, with Ki, Mi, or f for floats; FIRST:LAST[:FACTOR] is a range")
        ->delimiter(',');
}

void effort::add_to(CLI::App& app) {
    app.add_option("--warm-up", warm_up, "repetitions that do not count")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_option("--repetitions", repetitions, "at least")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--until", narrow,
                   "repeat until the 95 % confidence interval of the median is within this part of it, or "
                   "--seconds are over; 0: only --repetitions")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_option("--seconds", seconds, "for --until, for each line of the table")->capture_default_str();
}

auto parse_rate(std::string const& text) -> link_rate {
    auto unit = text;
    double const value = cut_number(unit);
    double const scale = unit == "kbit" ? 1e3 : unit == "mbit" ? 1e6 : unit == "gbit" ? 1e9 : 0;
    if (!(value > 0) || scale == 0)
        throw std::invalid_argument("a rate is a number and kbit, mbit or gbit, such as 100mbit, not " +
                                    text);
    return {value * scale};
}

} // namespace bench
