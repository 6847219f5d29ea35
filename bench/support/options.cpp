// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "options.hpp"

#undef exit // a macro of SimGrid's smpicxx, and a member function of CLI11
#include <CLI/CLI.hpp>

#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <unistd.h>

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

/// "nan" and "inf" are numbers to CLI11, and in every range.
auto finite_number(std::string const& word) -> std::string {
    try {
        if (!std::isfinite(std::stod(word))) return word + " is not finite";
    } catch (std::exception const&) { // others complain
    }
    return {};
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
        if (size > last) throw std::invalid_argument("the range " + word + " ends before it begins");
        if (factor < 2 || size == 0) throw std::invalid_argument("the range " + word + " has no end");
        for (; size <= last; size *= factor) {
            sizes.push_back(size);
            if (size > last / factor) break; // the next could be no number any more
        }
    }
    return sizes;
}

template <class T>
void add_option(CLI::App& app, std::string const& name, T& value, std::string const& description,
                allowed const& values) {
    auto* const option = app.add_option(name, value, description);
    if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::vector<double>>)
        option->check(finite_number);
    if constexpr (requires { value.push_back(value.front()); } && !std::is_same_v<T, std::string>)
        option->delimiter(',');
    if (description.find("default") == std::string::npos) option->capture_default_str();
    if (values.must_be_positive)
        option->check(CLI::PositiveNumber);
    else if (!values.words.empty())
        option->check(CLI::IsMember(values.words));
    else if (values.least >= 0 && values.least <= 0 && values.most >= allowed().most)
        option->check(CLI::NonNegativeNumber);
    else if (values.least > allowed().least)
        option->check(CLI::Range(values.least, values.most));
}
template void add_option(CLI::App&, std::string const&, int&, std::string const&, allowed const&);
template void add_option(CLI::App&, std::string const&, double&, std::string const&, allowed const&);
template void add_option(CLI::App&, std::string const&, std::size_t&, std::string const&, allowed const&);
template void add_option(CLI::App&, std::string const&, std::int64_t&, std::string const&, allowed const&);
template void add_option(CLI::App&, std::string const&, std::string&, std::string const&, allowed const&);
template void add_option(CLI::App&, std::string const&, std::vector<int>&, std::string const&,
                         allowed const&);
template void add_option(CLI::App&, std::string const&, std::vector<double>&, std::string const&,
                         allowed const&);
template void add_option(CLI::App&, std::string const&, std::vector<std::string>&, std::string const&,
                         allowed const&);

void add_flag(CLI::App& app, std::string const& name, bool& value, std::string const& description) {
    app.add_flag(name, value, description);
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
void add_seed(CLI::App& app, std::uint64_t& seed) {
    add_option(app, "--seed", seed, "of all random numbers");
}
void add_json(CLI::App& app, std::string& file) {
    app.add_option("--json", file, "write all results to this file, too; README.md describes it")
        ->check([](std::string const& name) { // now, not when everything has been measured
            // Without making it: scripts take what is there for results.
            std::filesystem::path const path(name);
            std::error_code ignored;
            bool const is_there = std::filesystem::exists(path, ignored);
            auto const folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
            bool const can_be_written =
                is_there ? !std::filesystem::is_directory(path, ignored) && ::access(name.c_str(), W_OK) == 0
                         : ::access(folder.c_str(), W_OK | X_OK) == 0;
            return can_be_written ? std::string() : "cannot write " + name;
        });
}

void effort::add_to(CLI::App& app) {
    add_option(app, "--warm-up", warm_up, "repetitions that do not count", not_negative);
    add_option(app, "--repetitions", repetitions, "at least", positive);
    add_option(app, "--until", narrow,
               "repeat until the 95 % confidence interval of the median is within this part of it, or "
               "--seconds are over; 0: only --repetitions",
               not_negative);
    add_option(app, "--seconds", seconds, "for --until, for each line of the table");
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
