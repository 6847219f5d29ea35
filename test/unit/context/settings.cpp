// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/context/settings.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <string>

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
    CHECK_FALSE(settings_of({{"PAPCOLL_TUNING_FILE", "."}}).tuning().content); // can be opened
}

TEST_CASE("a misspelt variable is found, and counts among what ranks must agree on") {
    auto const nothing = [](char const*) -> char const* { return nullptr; };
    environment_settings const good(nothing, {"HOME", "PAPCOLL_ALL_REDUCE_ALGORITHM", "PAPCOLL_REPORT"});
    CHECK(good.unknown().empty());
    environment_settings const bad(nothing, {"PAPCOLL_ALLREDUCE_ALGORITHM"});
    CHECK(bad.unknown() == "PAPCOLL_ALLREDUCE_ALGORITHM");
    CHECK(bad.hash() != good.hash());
    CHECK(environment_settings::known().find("PAPCOLL_ALL_REDUCE_ALGORITHM") != std::string::npos);
}

TEST_CASE("only 1 asks for a report") {
    CHECK(settings_of({{"PAPCOLL_REPORT", "1"}}).report());
    CHECK_FALSE(settings_of({{"PAPCOLL_REPORT", "0"}}).report());
    CHECK_FALSE(settings_of({{"PAPCOLL_REPORT", "yes"}}).report());
}
