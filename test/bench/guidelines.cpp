// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <algorithm>
#include <guidelines/judge.hpp>
#include <string>
#include <vector>

using namespace bench::guidelines;

namespace {

/// Times around `microseconds` that are 2 % apart.
auto around(double microseconds, int n = 21) -> std::vector<double> {
    std::vector<double> times;
    for (int i = 0; i < n; ++i) times.push_back(microseconds * (0.99 + 0.02 * (i * 7 % n) / n));
    return times;
}

auto find(std::vector<verdict> const& all, std::string const& guideline, std::string const& library,
          std::string const& operation) -> verdict const& {
    auto const found = std::find_if(all.begin(), all.end(), [&](auto const& v) {
        return v.guideline == guideline && v.library == library && v.operation == operation;
    });
    REQUIRE(found != all.end());
    return *found;
}

auto violations(std::vector<verdict> const& all) -> std::vector<std::string> {
    std::vector<std::string> found;
    for (auto const& v : all)
        if (v.is_violation()) found.push_back(v.library + " " + v.operation + " " + v.guideline);
    return found;
}

} // namespace

TEST_CASE("A ratio above its limit is a violation only where that is certain") {
    CHECK(judge(around(120), around(100), 1.05).is_violation());
    CHECK_FALSE(judge(around(104), around(100), 1.05).is_violation());
    CHECK_FALSE(judge(around(120, 5), around(100, 5), 1.05).is_violation()); // too few
    std::vector<double> noisy = around(120);
    for (std::size_t i = 0; i < noisy.size(); i += 2) noisy[i] /= 1.5;
    CHECK_FALSE(judge(noisy, around(100), 1.05).is_violation());
    CHECK(judge_apart(around(120), around(100), 1.05).is_violation());
    CHECK_FALSE(judge_apart(around(106), around(100), 1.05).is_violation()); // each side varies by 2 %
}

TEST_CASE("Drift that meets both sides of a pair changes nothing") {
    std::vector<double> left, right;
    for (int i = 0; i < 30; ++i) {
        right.push_back(100 + 20 * i);
        left.push_back(1.02 * right.back());
    }
    auto const v = judge(left, right, 1.05);
    CHECK(v.ratio == doctest::Approx(1.02));
    CHECK(v.confidence.relative_width() < 1e-9);
}

TEST_CASE("papcoll is compared with the library, operation by operation") {
    measurements const all{{4,
                            {{1024,
                              {{{"papcoll", "reduce"}, around(100)},
                               {{"mpi", "reduce"}, around(80)},
                               {{"papcoll", "broadcast"}, around(50)},
                               {{"mpi", "broadcast"}, around(80)}}}}}};
    auto const found = court({}).judge_all(all);
    CHECK(found.size() == 2);
    CHECK(violations(found) == std::vector<std::string>{"papcoll reduce library"});
    CHECK(find(found, "library", "papcoll", "broadcast").ratio == doctest::Approx(50.0 / 80));
    CHECK(found.front().ranks == 4);
    CHECK(found.front().bytes == 1024);
}

TEST_CASE("A collective is compared with two that do the same, the library's where papcoll has none") {
    times at{{{"papcoll", "all_reduce"}, around(100)}, {{"papcoll", "reduce"}, around(40)},
             {{"papcoll", "broadcast"}, around(50)},   {{"papcoll", "all_gather"}, around(30)},
             {{"papcoll", "gather"}, around(31)},      {{"mpi", "scatter"}, around(10)}};
    auto const found = court({}).judge_all({{8, {{64, at}}}});
    CHECK(violations(found) == std::vector<std::string>{"papcoll all_reduce ≤ reduce + broadcast",
                                                        "papcoll broadcast ≤ scatter + all_gather"});
    CHECK(find(found, "≤ reduce + broadcast", "papcoll", "all_reduce").ratio == doctest::Approx(100.0 / 90));
    CHECK(find(found, "≤ scatter + all_gather", "papcoll", "broadcast").ratio == doctest::Approx(50.0 / 40));
    CHECK_FALSE(find(found, "≤ all_gather", "papcoll", "gather").is_violation());
    CHECK_FALSE(find(found, "≤ gather + broadcast", "papcoll", "all_gather").is_violation());
}

TEST_CASE("Fewer bytes may not take longer, nor more bytes longer than in parts") {
    call const reduce{"mpi", "reduce"};
    auto const judged = [&](double few, double more) {
        return violations(
            court({}).judge_all({{2, {{1024, {{reduce, around(few)}}}, {4096, {{reduce, around(more)}}}}}}));
    };
    CHECK(judged(100, 200).empty());
    CHECK(judged(100, 400).empty());
    CHECK(judged(100, 80) == std::vector<std::string>{"mpi reduce monotone"});
    CHECK(judged(100, 500) == std::vector<std::string>{"mpi reduce split"});
}

TEST_CASE("Sizes below an element for each rank are rounded, and compared as what they are") {
    CHECK(rounded(8, 2) == 8);
    CHECK(rounded(8, 3) == 12);
    CHECK(rounded(32, 13) == 52);
    CHECK(rounded(4096, 16) == 4096);
    call const reduce{"mpi", "reduce"};
    // On 16 ranks 8 bytes are 64, so 128 are but twice as many.
    auto const found =
        court({}).judge_all({{16, {{8, {{reduce, around(100)}}}, {128, {{reduce, around(230)}}}}}});
    CHECK(violations(found) == std::vector<std::string>{"mpi reduce split"});
}

TEST_CASE("One more rank may not make a jump") {
    call const gather{"papcoll", "gather"};
    measurements all{{7, {{512, {{gather, around(100)}}}}}, {8, {{512, {{gather, around(110)}}}}}};
    CHECK(violations(court({}).judge_all(all)).empty());
    all[8][512][gather] = around(130);
    auto const found = court({}).judge_all(all);
    CHECK(violations(found) == std::vector<std::string>{"papcoll gather p + 1"});
    CHECK(found.back().ranks == 7);
    all[9] = all[8];
    all.erase(8);
    CHECK(court({}).judge_all(all).empty()); // 7 and 9 are no neighbours
}

TEST_CASE("The tally counts cells, violations and the worst ratio") {
    times const at{{{"papcoll", "reduce"}, around(100)}, {{"mpi", "reduce"}, around(50)}};
    auto const found = count(court({}).judge_all({{4, {{64, at}}}, {6, {{64, at}}}}));
    auto const& of_library = found.at({"papcoll", "library"});
    CHECK(of_library.cells == 2);
    CHECK(of_library.violations == 2);
    CHECK(of_library.worst == doctest::Approx(2));
}
