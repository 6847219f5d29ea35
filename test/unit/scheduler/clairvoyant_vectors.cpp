// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "clairvoyant_cases.hpp"

namespace {

using clairvoyant_cases::instance;

auto load(std::filesystem::path const& file) -> std::pair<instance, std::vector<papcoll::transfer>> {
    instance i;
    std::vector<papcoll::transfer> expected;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line.front() == '#') continue;
        std::istringstream words(line);
        std::string key;
        words >> key;
        long long value = 0;
        if (key == "ranks")
            words >> i.ranks;
        else if (key == "segments")
            words >> i.blocks;
        else if (key == "root")
            words >> i.root;
        else if (key == "round")
            words >> value, i.round = papcoll::ticks{value};
        else if (key == "arrivals")
            while (words >> value) i.arrivals.push_back(papcoll::ticks{value});
        else {
            papcoll::transfer t;
            t.step = std::stoll(key);
            words >> t.from >> t.to >> t.block;
            expected.push_back(t);
        }
    }
    return {i, expected};
}

} // namespace

TEST_CASE_TEMPLATE("every search gives the reference schedules, in order of generation", Search,
                   CLAIRVOYANT_SEARCHES) {
    int files = 0;
    for (auto const& file : std::filesystem::directory_iterator(PAPCOLL_TEST_DATA "/clairvoyant")) {
        CAPTURE(file.path().string());
        auto const [i, expected] = load(file.path());
        REQUIRE(i.arrivals.size() == static_cast<std::size_t>(i.ranks));
        CHECK(clairvoyant_cases::schedule<Search>(i) == expected);
        ++files;
    }
    CHECK(files == 25);
}
