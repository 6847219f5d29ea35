// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace CLI { // whose header takes seconds to compile: options.cpp and program.cpp include it
class App;
} // namespace CLI

/// How subcommands say which options they have, and those that several have, under one name and with one
/// meaning.
namespace bench {

/// Which values an option takes: numbers, or words.
struct allowed {
    double least = std::numeric_limits<double>::lowest();
    double most = std::numeric_limits<double>::max();
    bool must_be_positive = false;
    std::vector<std::string> words = {};
};
inline allowed const positive{.must_be_positive = true};
inline allowed const not_negative{.least = 0};
[[nodiscard]] inline auto between(double least, double most) -> allowed { return {least, most}; }
[[nodiscard]] inline auto one_of(std::vector<std::string> words) -> allowed {
    return {.words = std::move(words)};
}

/// An option that sets `value`: a number, a std::string, or a std::vector of these, then given with commas.
/// Help shows its default unless `description` speaks of one.
template <class T>
void add_option(CLI::App& app, std::string const& name, T& value, std::string const& description = "",
                allowed const& values = {});
/// An option without a value.
void add_flag(CLI::App& app, std::string const& name, bool& value, std::string const& description);

/// Bytes: "64", "64Ki", "4MiB"; "1024f" are 1024 floats. Throws std::invalid_argument.
[[nodiscard]] auto parse_size(std::string const& text) -> std::size_t;
/// Sizes and ranges of them: "8:4Mi" is 8, 16, … 4 Mi, "8:4Mi:8" takes the factor 8.
[[nodiscard]] auto parse_sizes(std::vector<std::string> const& words) -> std::vector<std::size_t>;

/// Adds --sizes.
void add_sizes(CLI::App& app, std::vector<std::size_t>& sizes, std::string const& description);

/// How often a measurement is repeated.
struct effort {
    int warm_up = 1;
    int repetitions = 5;  ///< at least
    double narrow = 0;    ///< until the interval is so narrow on both sides, as a part of the median; 0: not
    double seconds = 1.0; ///< after the repetitions, at most

    /// Adds --warm-up, --repetitions, --until and --seconds.
    void add_to(CLI::App& app);
};

void add_seed(CLI::App& app, std::uint64_t& seed);
void add_json(CLI::App& app, std::string& file);

/// What one link can carry: of a rate on an Ethernet wire TCP leaves 1448 of 1514 bytes for payload.
struct link_rate {
    double bits_per_second;

    [[nodiscard]] auto nanoseconds(std::size_t bytes) const -> double {
        return static_cast<double>(bytes) * 8 * 1514 / 1448 / bits_per_second * 1e9;
    }
};
/// Parses a rate as tc writes it: 100mbit, 1gbit, 500kbit.
[[nodiscard]] auto parse_rate(std::string const& text) -> link_rate;

} // namespace bench
