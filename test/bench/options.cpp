// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <CLI/CLI.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <support/options.hpp>
#include <unistd.h>
#include <vector>

using sizes = std::vector<std::size_t>;

namespace {

/// Why the words are refused; empty: they are taken.
auto complaint(std::vector<std::string> words) {
    CLI::App app;
    std::string file;
    double number = 0;
    std::vector<double> numbers;
    bench::add_json(app, file);
    bench::add_option(app, "--number", number);
    bench::add_option(app, "--numbers", numbers, "", bench::between(0, 10));
    std::reverse(words.begin(), words.end());
    try {
        app.parse(words);
    } catch (CLI::ParseError const& error) {
        return std::string(error.what());
    }
    return std::string();
}

} // namespace

TEST_CASE("Numbers are finite") {
    CHECK(complaint({"--number", "-1.5", "--numbers", "0,10"}).empty());
    for (auto const* wrong : {"nan", "inf", "-inf"}) {
        CHECK(complaint({"--number", wrong}).find("is not finite") != std::string::npos);
        CHECK(complaint({"--numbers", std::string("1,") + wrong}).find("is not finite") != std::string::npos);
    }
}

TEST_CASE("The file for results is tried without making it") {
    auto const folder = std::filesystem::temp_directory_path();
    auto const file = folder / ("papcoll-options-" + std::to_string(::getpid()) + ".json");
    CHECK(complaint({"--json", file.string()}).empty());
    CHECK_FALSE(std::filesystem::exists(file));
    CHECK(complaint({"--json", "/dev/null"}).empty());
    CHECK(complaint({"--json", "without_a_folder.json"}).empty());
    for (auto const& wrong : {folder, folder / "nowhere" / "results.json"})
        CHECK(complaint({"--json", wrong.string()}).find("cannot write") != std::string::npos);
}

TEST_CASE("Sizes are bytes, with binary prefixes, or floats") {
    CHECK(bench::parse_size("0") == 0);
    CHECK(bench::parse_size("64") == 64);
    CHECK(bench::parse_size("64B") == 64);
    CHECK(bench::parse_size("64Ki") == 65536);
    CHECK(bench::parse_size("64KiB") == 65536);
    CHECK(bench::parse_size("1.5Mi") == 1572864);
    CHECK(bench::parse_size("1000f") == 4000);
    CHECK(bench::parse_size("16Kif") == 65536);
    for (auto const* wrong : {"", "x", "-1", "64K", "64kb", "64 ", "f", "64fB", "nan", "1e30"})
        CHECK_THROWS_AS((void)bench::parse_size(wrong), std::invalid_argument);
}

TEST_CASE("Ranges double, or go by their factor, to the last size") {
    CHECK(bench::parse_sizes({"8", "1Ki"}) == sizes{8, 1024});
    CHECK(bench::parse_sizes({"8:64"}) == sizes{8, 16, 32, 64});
    CHECK(bench::parse_sizes({"8:63"}) == sizes{8, 16, 32});
    CHECK(bench::parse_sizes({"4", "8:4Ki:8"}) == sizes{4, 8, 64, 512, 4096});
    CHECK(bench::parse_sizes({"1f:16f:4"}) == sizes{4, 16, 64});
    for (auto const* endless : {"0:8", "8:64:1", "8:64:0", "64:8"})
        CHECK_THROWS_AS((void)bench::parse_sizes({endless}), std::invalid_argument);
}

TEST_CASE("Rates are written as tc writes them") {
    CHECK(bench::parse_rate("100mbit").bits_per_second == doctest::Approx(1e8));
    CHECK(bench::parse_rate("1.5gbit").bits_per_second == doctest::Approx(1.5e9));
    CHECK(bench::parse_rate("100mbit").nanoseconds(1'000'000) == doctest::Approx(8e7 * 1514 / 1448));
    for (auto const* wrong : {"", "100", "100Mbit", "0mbit", "-1gbit", "fast"})
        CHECK_THROWS_AS((void)bench::parse_rate(wrong), std::invalid_argument);
}
