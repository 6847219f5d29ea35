// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/context/settings.hpp>
#include <papcoll/policy/collective_kind.hpp>

#include <doctest/doctest.h>

#include <cctype>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

using papcoll::environment_settings;

namespace {

auto settings_of(std::map<std::string, std::string> const& environment) -> environment_settings {
    return environment_settings([&](char const* name) -> char const* {
        auto const found = environment.find(name);
        return found == environment.end() ? nullptr : found->second.c_str();
    });
}

} // namespace

TEST_CASE("an empty environment asks for nothing") {
    auto const settings = settings_of({});
    CHECK(settings.algorithm("REDUCE").empty());
    CHECK(settings.tuning_file().empty());
    CHECK_FALSE(settings.tuning().named);
    CHECK_FALSE(settings.report());
    CHECK(settings.hash() == settings_of({{"PAPCOLL_REDUCE_ALGORITHM", ""}}).hash());
}

TEST_CASE("each collective has its algorithm") {
    auto const settings =
        settings_of({{"PAPCOLL_REDUCE_ALGORITHM", "circulant"}, {"PAPCOLL_ALL_TO_ALL_ALGORITHM", "bruck"}});
    CHECK(settings.algorithm("REDUCE") == "circulant");
    CHECK(settings.algorithm("ALL_TO_ALL") == "bruck");
    CHECK(settings.algorithm("BROADCAST").empty());
}

TEST_CASE("the hash tells settings apart that ranks must agree on, and no others") {
    auto const one = settings_of({{"PAPCOLL_REDUCE_ALGORITHM", "ring"}}).hash();
    CHECK(one != settings_of({}).hash());
    CHECK(one != settings_of({{"PAPCOLL_REDUCE_ALGORITHM", "rinh"}}).hash());
    CHECK(one != settings_of({{"PAPCOLL_GATHER_ALGORITHM", "ring"}}).hash());
    CHECK(one == settings_of({{"PAPCOLL_REDUCE_ALGORITHM", "ring"}, {"PAPCOLL_REPORT", "1"}}).hash());
    CHECK(settings_of({{"PAPCOLL_TUNING_FILE", "/nowhere"}}).hash() == settings_of({}).hash()); // rank 0's
}

TEST_CASE("two mistakes are found wherever they are") {
    auto const unknown = [](std::string const& name) {
        return environment_settings([](char const*) -> char const* { return nullptr; }, {name}).unknown();
    };
    // Each letter in turn removed, replaced or doubled.
    auto const mistaken = [](std::string const& name) {
        std::vector<std::string> all;
        for (std::size_t i = 0; i < name.size(); ++i) {
            all.push_back(name.substr(0, i) + name.substr(i + 1));
            all.push_back(name.substr(0, i) + 'x' + name.substr(i + 1));
            all.push_back(name.substr(0, i) + name[i] + name.substr(i));
        }
        return all;
    };
    for (auto const& once : mistaken("PAPCOLL_NODE_MEMORY"))
        for (auto const& twice : mistaken(once))
            if (twice != "PAPCOLL_NODE_MEMORY") CHECK(unknown(twice) == twice);
    for (char const* const other : {"PATH", "OMPI_MCA_btl", "PAPI_EVENTS", "COLLECT", ""})
        CHECK(unknown(other).empty());
}

TEST_CASE("a tuning file is read when it is asked for") {
    std::ofstream("settings_a.json") << "{}";
    auto const a = settings_of({{"PAPCOLL_TUNING_FILE", "settings_a.json"}});
    CHECK(a.tuning().named);
    CHECK(a.tuning().content == "{}");
    std::ofstream("settings_a.json") << "{ }";
    CHECK(a.tuning().content == "{ }");
    std::remove("settings_a.json");
    CHECK(a.tuning().named);
    CHECK_FALSE(a.tuning().content);
    CHECK_FALSE(settings_of({{"PAPCOLL_TUNING_FILE", "."}}).tuning().content);         // can be opened
    CHECK_FALSE(settings_of({{"PAPCOLL_TUNING_FILE", "/dev/zero"}}).tuning().content); // has no end
}

TEST_CASE("a misspelt variable is found, and counts among what ranks must agree on") {
    auto const of_names = [](std::vector<std::string_view> const& names) {
        return environment_settings([](char const*) -> char const* { return nullptr; }, names);
    };
    auto const good =
        of_names({"HOME", "PAPCOLL_ALL_REDUCE_ALGORITHM", "PAPCOLL_TUNING_FILE", "PAPCOLL_REPORT"});
    CHECK(good.unknown().empty());
    auto const mistaken = [&](std::string_view name, std::string_view meant) {
        auto const bad = of_names({"HOME", name, "PAPCOLL_REPORT"});
        CHECK(bad.unknown() == name);
        CHECK(bad.hash() != good.hash());
        CHECK(environment_settings::nearest(name) == meant);
    };
    mistaken("PAPCOLL_ALLREDUCE_ALGORITHM", "PAPCOLL_ALL_REDUCE_ALGORITHM");
    mistaken("PAPCOLL_BCAST_ALGORITHM", "PAPCOLL_BROADCAST_ALGORITHM");
    mistaken("PAPCOLL_ALLTOALL_ALGORITHM", "PAPCOLL_ALL_TO_ALL_ALGORITHM");
    mistaken("PAPCOLL_REDUCE_ALGORITM", "PAPCOLL_REDUCE_ALGORITHM");
    mistaken("PAPCOL_REDUCE_ALGORITHM", "PAPCOLL_REDUCE_ALGORITHM");
    mistaken("PAPCOLL_TUNINGFILE", "PAPCOLL_TUNING_FILE");
    mistaken("PAPCOLL_TUNE_FILE", "PAPCOLL_TUNING_FILE");
    mistaken("PAPCOLL_TUNING_TABLE_OF_THIS_MACHINE", "PAPCOLL_TUNING_FILE");
    mistaken("PAPCOLL_TUNIGN_FILE", "PAPCOLL_TUNING_FILE");
    mistaken("PAPCOLL_REPORTS", "PAPCOLL_REPORT");
    mistaken("PAPCOLL_REPROT", "PAPCOLL_REPORT");
    mistaken("PAPCOLLREPORT", "PAPCOLL_REPORT");
}

TEST_CASE("of several misspelt variables the first by the alphabet counts, in whatever order they are") {
    auto const nothing = [](char const*) -> char const* { return nullptr; };
    environment_settings const a(nothing, {"PAPCOLL_TUNINGFILE", "PAPCOLL_REPORTS"});
    environment_settings const b(nothing, {"PAPCOLL_REPORTS", "PAPCOLL_TUNINGFILE"});
    CHECK(a.unknown() == "PAPCOLL_REPORTS");
    CHECK(a.hash() == b.hash());
}

TEST_CASE("names that are others' are none of papcoll's business") {
    environment_settings const settings([](char const*) -> char const* { return nullptr; },
                                        {"",
                                         "PAPCOLL_",
                                         "PAPCOLL_JOBS",
                                         "PAPCOLL_BUILD_DIR",
                                         "PAPCOLL_BUILD_TESTS",
                                         "PAPCOLL_CCACHE",
                                         "PAPCOLL_BENCH_CLOCKS",
                                         "PAPCOLL_TRACE_FILE",
                                         "PAPCOLL_TRACE_RANKS",
                                         "PAPCOLL_TRACE_EVERY",
                                         "PAPCOLL_TRACE_BUFFER",
                                         "PAPCOLL_TRACE_TEST_OFFSET_NS",
                                         "PAPCOLL_TRACE_TEST_DRIFT_PPM",
                                         "PAPCOLL_CLUSTER_ID",
                                         "PAPCOLL_TEST_RANKS",
                                         "PAPCOLL_TEST_THREADS",
                                         "PAPCOLL_MPIRUN",
                                         "PAPCOLL_ROUTE",
                                         "PAPCOLL_SOURCE",
                                         "PAPCOLL_ROOT",
                                         "PAPCOLL_DIR",
                                         "REPORT",
                                         "OMPI_MCA_coll_tuned_bcast_algorithm"});
    CHECK(settings.unknown().empty());
}

TEST_CASE("only 1 asks for a report") {
    CHECK(settings_of({{"PAPCOLL_REPORT", "1"}}).report());
    CHECK_FALSE(settings_of({{"PAPCOLL_REPORT", "0"}}).report());
    for (char const* const off : {"", "0", "no", "Off", "FALSE"})
        CHECK_FALSE(settings_of({{"PAPCOLL_REPORT", off}}).report());
    CHECK(settings_of({{"PAPCOLL_REPORT", "yes"}}).report());
    CHECK(settings_of({{"PAPCOLL_LEARN", "True"}}).learn());
}

TEST_CASE("the environment asks for checks by name") {
    CHECK(settings_of({}).checks() == 0);
    CHECK(settings_of({{"PAPCOLL_CHECKS", "local"}}).checks() == 1);
    CHECK(settings_of({{"PAPCOLL_CHECKS", "agreed"}}).checks() == 2);
    CHECK_FALSE(settings_of({{"PAPCOLL_CHECKS", "off"}}).checks().has_value());
    CHECK_FALSE(settings_of({{"PAPCOLL_CHECKS", "1"}}).checks().has_value());
    CHECK(settings_of({{"PAPCOLL_CHECKS", "agreed"}}).hash() ==
          settings_of({}).hash()); // the strictest counts
}

TEST_CASE("every collective has a variable") {
    for (auto const name : papcoll::detail::collective_names) {
        std::string operation;
        for (char const c : name) operation += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        auto const variable = environment_settings::variable_of(operation);
        CHECK(settings_of({{variable, "native"}}).algorithm(operation) == "native");
        CHECK(environment_settings::nearest(variable) == variable);
    }
}
