// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <mpi.h>

#undef exit // a macro of SimGrid's smpicxx, and a member function of CLI11
#include <CLI/CLI.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// The options that several subcommands have, under one name and with one meaning.
namespace bench {

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

inline void add_seed(CLI::App& app, std::uint64_t& seed) {
    app.add_option("--seed", seed, "of all random numbers")->capture_default_str();
}
inline void add_json(CLI::App& app, std::string& file) {
    app.add_option("--json", file, "write all results to this file, too; README.md describes it");
}

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
