// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/analysis/verify.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace {

using papcoll::problem;
using papcoll::transfer;
using papcoll::verify_dissemination;
using papcoll::verify_reduction;
using schedule = std::vector<transfer>;
using verdict = std::optional<std::string>;

// True if there is a violation and its text has all the words.
auto names(verdict const& violation, std::vector<std::string> const& words) -> bool {
    if (!violation) return false;
    INFO(*violation);
    return std::all_of(words.begin(), words.end(), [&](std::string const& word) {
        bool const found = violation->find(word) != std::string::npos;
        CHECK_MESSAGE(found, "\"" << word << "\" is missing in: " << *violation);
        return found;
    });
}

// A chain p−1 → … → 0 through which the blocks follow one another.
auto chain(int ranks, int blocks) -> schedule {
    schedule all;
    for (int block = 0; block < blocks; ++block)
        for (int rank = ranks - 1; rank > 0; --rank)
            all.push_back({ranks - 1 - rank + block, rank, rank - 1, block});
    return all;
}

auto turned(schedule all) -> schedule {
    papcoll::step_type last = 0;
    for (auto const& t : all) last = std::max(last, t.step);
    for (auto& t : all) t = {last - t.step, t.to, t.from, t.block};
    return all;
}

} // namespace

TEST_CASE("right schedules pass, whatever the order of the list") {
    std::mt19937 random(7);
    for (int const ranks : {1, 2, 3, 5, 7, 8, 13})
        for (int const blocks : {1, 2, 6}) {
            auto all = chain(ranks, blocks);
            std::shuffle(all.begin(), all.end(), random);
            problem const p{.ranks = ranks, .blocks = blocks};
            CHECK_FALSE(verify_reduction(all, p));
            CHECK_FALSE(verify_dissemination(turned(all), p));
        }
}

TEST_CASE("owners other than the root") {
    // Two ranks exchange halves, then a reduction's result is where a dissemination starts.
    std::vector<int> const owners{1, 0};
    problem const p{.ranks = 2, .blocks = 2, .owners = owners};
    schedule const exchange{{0, 0, 1, 0}, {0, 1, 0, 1}};
    CHECK_FALSE(verify_reduction(exchange, p));
    CHECK_FALSE(verify_dissemination(schedule{{0, 1, 0, 0}, {0, 0, 1, 1}}, p));
    CHECK(names(verify_reduction(exchange, {.ranks = 2, .blocks = 2}),
                {"block 0", "rank 1", "owner is rank 0"}));
}

TEST_CASE("a block may come back to a rank that gave it away") {
    schedule const back{{0, 1, 2, 0}, {1, 2, 1, 0}, {2, 1, 0, 0}};
    CHECK_FALSE(verify_reduction(back, {.ranks = 3}));
    schedule const through_root{{0, 0, 1, 0}, {1, 1, 0, 0}};
    CHECK_FALSE(verify_reduction(through_root, {.ranks = 2}));
}

TEST_CASE("blocks of one message, and gaps and negative values in the steps, are fine") {
    schedule const message{
        {-5, 2, 1, 0}, {-5, 2, 1, 1}, {1'000'000'000'000, 1, 0, 1}, {1'000'000'000'000, 1, 0, 0}};
    CHECK_FALSE(verify_reduction(message, {.ranks = 3, .blocks = 2}));
}

TEST_CASE("transfers out of range") {
    problem const p{.ranks = 3, .blocks = 2};
    for (auto const verify : {verify_reduction, verify_dissemination}) {
        CHECK(names(verify(schedule{{4, 3, 0, 1}}, p),
                    {"rank 3", "block 1", "step 4", "not among the 3 ranks"}));
        CHECK(names(verify(schedule{{4, 1, -1, 1}}, p), {"rank -1", "step 4", "not among"}));
        CHECK(names(verify(schedule{{4, 1, 0, 2}}, p), {"block 2", "step 4", "not among the 2 blocks"}));
        CHECK(names(verify(schedule{{4, 1, 0, -1}}, p), {"block -1", "step 4", "not among"}));
        CHECK(names(verify(schedule{{4, 1, 1, 0}}, p), {"rank 1", "block 0", "step 4", "itself"}));
    }
}

TEST_CASE("two messages in one step") {
    problem const p{.ranks = 4, .blocks = 2};
    CHECK(names(verify_reduction(schedule{{3, 2, 0, 0}, {3, 2, 1, 1}}, p),
                {"rank 2", "sends two messages", "step 3", "0 and 1"}));
    CHECK(names(verify_reduction(schedule{{3, 2, 0, 0}, {3, 1, 0, 0}}, p),
                {"rank 0", "receives two messages", "step 3", "1 and 2"}));
    CHECK(names(verify_dissemination(schedule{{3, 0, 1, 0}, {3, 0, 2, 1}}, p),
                {"rank 0", "sends two messages", "step 3"}));
    CHECK(names(verify_dissemination(schedule{{0, 0, 1, 0}, {1, 0, 3, 1}, {1, 1, 3, 0}}, p),
                {"rank 3", "receives two messages", "step 1"}));
}

TEST_CASE("one block twice in a message") {
    problem const p{.ranks = 2};
    CHECK(names(verify_reduction(schedule{{0, 1, 0, 0}, {0, 1, 0, 0}}, p),
                {"block 0", "rank 1", "step 0", "twice"}));
    CHECK(
        names(verify_dissemination(schedule{{0, 0, 1, 0}, {0, 0, 1, 0}}, p), {"block 0", "step 0", "twice"}));
}

TEST_CASE("one block sent and received by a rank in the same step") {
    problem const p{.ranks = 3};
    CHECK(names(verify_reduction(schedule{{6, 2, 1, 0}, {6, 1, 0, 0}}, p),
                {"rank 1", "sends and receives block 0", "step 6"}));
    CHECK(names(verify_dissemination(schedule{{6, 0, 1, 0}, {6, 1, 2, 0}}, p),
                {"rank 1", "sends and receives block 0", "step 6"}));
    // Different blocks may pass one another.
    CHECK_FALSE(
        verify_reduction(schedule{{0, 2, 1, 0}, {0, 1, 0, 1}, {1, 2, 1, 1}, {2, 1, 0, 0}, {3, 1, 0, 1}},
                         {.ranks = 3, .blocks = 2}));
}

TEST_CASE("a contribution counted twice") {
    CHECK(names(verify_reduction(schedule{{0, 2, 1, 0}, {1, 2, 0, 0}, {2, 1, 0, 0}}, {.ranks = 3}),
                {"rank 2", "block 0", "step 1", "gave it away in step 0", "counted twice"}));
}

TEST_CASE("contributions lost") {
    CHECK(names(verify_reduction(schedule{}, {.ranks = 2}), {"block 0", "rank 1", "lost", "owner, rank 0"}));
    CHECK(names(verify_reduction(schedule{{0, 1, 0, 0}, {1, 2, 1, 0}}, {.ranks = 3}),
                {"block 0", "rank 1", "lost"}));
    CHECK(names(verify_dissemination(schedule{{0, 0, 1, 0}}, {.ranks = 3}),
                {"rank 2", "never receives block 0"}));
    CHECK(names(verify_dissemination(schedule{}, {.ranks = 2, .root = 1}),
                {"rank 0", "never", "owner rank 1"}));
}

TEST_CASE("a wrong final owner") {
    auto const all = chain(4, 3);
    CHECK(names(verify_reduction(all, {.ranks = 4, .root = 2, .blocks = 3}),
                {"block 0 ends at rank 0", "owner is rank 2"}));
}

TEST_CASE("dependencies that do not increase in step") {
    CHECK(names(verify_dissemination(schedule{{1, 1, 2, 0}, {5, 0, 1, 0}}, {.ranks = 3}),
                {"rank 1", "sends block 0 in step 1", "does not hold", "only in step 5", "increase"}));
    CHECK(names(verify_reduction(schedule{{0, 1, 2, 0}, {2, 1, 0, 0}, {3, 2, 1, 0}}, {.ranks = 3}),
                {"rank 1", "block 0 in step 2", "away in step 0", "only in step 3", "increase"}));
}

TEST_CASE("a block sent before it is held, or delivered twice") {
    CHECK(names(verify_dissemination(schedule{{1, 1, 2, 0}}, {.ranks = 3}),
                {"rank 1", "block 0", "step 1", "does not hold"}));
    CHECK(names(verify_dissemination(schedule{{0, 0, 1, 0}, {4, 0, 1, 0}}, {.ranks = 2}),
                {"rank 1", "block 0", "step 4", "already"}));
}

TEST_CASE("the violation of the smallest step is the one that is named") {
    schedule const broken{{9, 1, 1, 0}, {2, 2, 2, 0}, {5, 3, 0, 9}};
    CHECK(names(verify_reduction(broken, {.ranks = 4}), {"step 2"}));
}

TEST_CASE("every schedule that lacks one transfer, or has one twice at a later step, is refused") {
    auto const all = chain(5, 4);
    problem const p{.ranks = 5, .blocks = 4};
    for (std::size_t i = 0; i < all.size(); ++i) {
        auto less = all;
        less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
        CHECK(verify_reduction(less, p));
        CHECK(verify_dissemination(turned(less), p));
        auto more = all;
        more.push_back(all[i]);
        more.back().step += 100;
        CHECK(verify_reduction(more, p));
        CHECK(verify_dissemination(more, p));
    }
}

TEST_CASE("a malformed problem throws and names the member") {
    CHECK_THROWS_WITH_AS((void)verify_reduction(schedule{}, {.ranks = 0}), doctest::Contains("problem.ranks"),
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS((void)verify_dissemination(schedule{}, {.ranks = 2, .root = 2}),
                         doctest::Contains("problem.root"), std::invalid_argument);
}

TEST_CASE("a million transfers") {
    auto const all = chain(1001, 1000);
    REQUIRE(all.size() == 1'000'000);
    problem const p{.ranks = 1001, .blocks = 1000};
    CHECK_FALSE(verify_reduction(all, p));
    CHECK_FALSE(verify_dissemination(turned(all), p));
}
