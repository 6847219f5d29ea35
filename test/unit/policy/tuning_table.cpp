// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/policy/tuning_table.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>

using namespace papcoll;

namespace {

auto complaint(std::string const& text) -> std::string {
    try {
        (void)tuning_table::parse(text, "file");
    } catch (std::invalid_argument const& e) {
        return e.what();
    }
    return "";
}
auto contains(std::string const& text, std::string const& part) -> bool {
    return text.find(part) != std::string::npos;
}

constexpr char const* good = R"({
  "papcoll_tuning": 1, "machine": {"hosts": 8, "note": "caf\"é\" \n"},
  "choices": [
    {"operation": "reduce", "ranks": 8, "bytes": 1024, "policy": "native", "evidence": [1.5e-3, null, true]},
    {"operation": "reduce", "ranks": 8, "bytes": 65536, "policy": "circulant", "block_bytes": 8192},
    {"operation": "reduce", "ranks": 64, "bytes": 1024, "policy": "greedy_tree"},
    {"operation": "all_gather", "ranks": 8, "bytes": 0, "policy": "ring"},
    {"operation": "all_gather", "ranks": 8, "bytes": 64, "policy": "dissemination", "radix": 4}
  ]
})";

} // namespace

TEST_CASE("a table has its entries, whatever else is in the file") {
    auto const table = tuning_table::parse(good);
    REQUIRE(table.entries().size() == 5);
    CHECK(table.entries()[1].choice == tuned_choice{"circulant", 8192});
    CHECK(table.entries()[0].choice == tuned_choice{"native", {}});
    CHECK(table.entries()[4].choice == tuned_choice{"dissemination", {}, 4});
    CHECK(table.entries()[3].operation == collective_kind::all_gather);
    CHECK(table.entries()[3].bytes == 0);
}

TEST_CASE("the entry of the nearest ranks, then of the nearest bytes") {
    auto const table = tuning_table::parse(good);
    auto const policy = [&](int ranks, std::size_t bytes) {
        return table.find(collective_kind::reduce, ranks, bytes)->choice.policy;
    };
    CHECK(policy(8, 1024) == "native");
    CHECK(policy(8, 0) == "native");
    CHECK(policy(8, 8192) == "native"); // as near to both: the smaller
    CHECK(policy(8, 8193) == "circulant");
    CHECK(policy(8, 1u << 30U) == "circulant");
    CHECK(policy(22, 1u << 30U) == "circulant");
    CHECK(policy(23, 1u << 30U) == "greedy_tree"); // √(8·64) < 23
    CHECK(policy(1000000, 5) == "greedy_tree");
    CHECK(table.find(collective_kind::broadcast, 8, 1024) == nullptr);
    CHECK(tuning_table().find(collective_kind::reduce, 8, 1024) == nullptr);
}

TEST_CASE("equal tables have equal hashes, others do not") {
    CHECK(tuning_table::parse(good).hash() == tuning_table::parse(good).hash());
    std::string other = good;
    other.replace(other.find("8192"), 4, "4096");
    CHECK(tuning_table::parse(other).hash() != tuning_table::parse(good).hash());
}

TEST_CASE("mistakes are refused with the line") {
    CHECK(contains(complaint(""), "file:1: a value is missing"));
    CHECK(contains(complaint("[]"), "papcoll_tuning"));
    CHECK(contains(complaint(R"({"papcoll_tuning": 2, "choices": []})"), "must be 1"));
    CHECK(contains(complaint(R"({"papcoll_tuning": 1})"), "\"choices\" must be an array"));
    auto const with = [](std::string const& entry) {
        return complaint("{\"papcoll_tuning\": 1, \"choices\": [\n" + entry + "\n]}");
    };
    CHECK(with(R"({"operation": "reduce", "ranks": 1, "bytes": 0, "policy": "x"})").empty());
    CHECK(contains(with("5"), "file:2: \"operation\" must be a string"));
    CHECK(contains(with(R"({"operation": "redoce"})"), "file:2: there is no operation \"redoce\""));
    CHECK(contains(with(R"({"operation": "reduce"})"), "\"ranks\" must be a whole number of at least 1"));
    for (auto const* ranks : {"0", "-1", "1.5", "\"8\"", "1e300"})
        CHECK(contains(with(std::string(R"({"operation": "reduce", "ranks": )") + ranks + "}"),
                       "file:2: \"ranks\""));
    CHECK(contains(with(R"({"operation": "reduce", "ranks": 4, "bytes": -1})"), "\"bytes\""));
    CHECK(
        contains(with(R"({"operation": "reduce", "ranks": 4, "bytes": 1})"), "\"policy\" must be a string"));
    CHECK(
        contains(with(R"({"operation": "reduce", "ranks": 4, "bytes": 1, "policy": "x", "block_bytes": 0})"),
                 "\"block_bytes\" must be a whole number of at least 1"));
}

TEST_CASE("text that is no JSON is refused, wherever it is cut off or spoilt") {
    std::string const text = good;
    for (std::size_t n = 0; n < text.size(); ++n) {
        auto const rest = text.find_first_not_of(" \n", n);
        if (rest == std::string::npos) break;
        CHECK_MESSAGE(!complaint(text.substr(0, n)).empty(), n);
    }
    CHECK(contains(complaint("{\"a\": 1, \"a\": 2}"), "\"a\" is there twice"));
    CHECK(contains(complaint("{\"a\": 1} 2"), "more behind"));
    for (auto const* number : {"inf", "-inf", "nan", "+1", "01", ".5", "1."})
        CHECK(contains(complaint(std::string("{\"a\": ") + number + "}"), "malformed"));
    CHECK(contains(complaint("{\"a\": \"\\q\"}"), "unknown escape"));
    CHECK(contains(complaint("{\n\n\"a\n\": 1}"), "file:3: a string does not end"));
    CHECK(contains(complaint(std::string(1000, '[')), "nested too deeply"));
    CHECK(contains(complaint(std::string("\x7f\x45LF\0\1", 6)), "file:1"));
}

TEST_CASE("what a table says is quoted short and printable") {
    auto const long_name = "\\u001b" + std::string(100'000, 'x');
    auto const why =
        complaint("{\"papcoll_tuning\": 1, \"choices\": [{\"operation\": \"" + long_name + "\"}]}");
    CHECK(why == "papcoll: file:1: there is no operation \"?" + std::string(39, 'x') + "…\"");
}

TEST_CASE("a file that cannot be read is refused by name") {
    CHECK_THROWS_WITH_AS(tuning_table::read("/nowhere/table.json"), doctest::Contains("/nowhere/table.json"),
                         std::invalid_argument);
    for (std::string const bad : {".", "/dev/zero"}) // can be opened
        CHECK_THROWS_WITH_AS(
            tuning_table::read(bad),
            ("papcoll: cannot read " + bad + ": it must be there, a file of at most 16 MiB").c_str(),
            std::invalid_argument);
}
