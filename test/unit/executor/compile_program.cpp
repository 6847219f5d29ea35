// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/executor/compile_program.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>

using papcoll::compile;
using papcoll::ranges_of;
using papcoll::rank_schedule;

namespace {

constexpr auto reduction = papcoll::schedule_kind::reduction;
constexpr auto dissemination = papcoll::schedule_kind::dissemination;

} // namespace

TEST_CASE("transfers of one step and peer are one message, in block order") {
    rank_schedule const share{.sends = {{3, 1, 4}, {3, 1, 0}, {4, 1, 2}},
                              .receives = {{0, 2, 0}, {0, 2, 4}, {1, 2, 4}}};
    auto const program = compile(reduction, share, ranges_of({10, 5}), std::vector<bool>(5), {});
    REQUIRE(program.sends.messages.size() == 2);
    CHECK(program.sends.messages[0].use_count == 2);
    CHECK(program.sends.messages[0].elements == 4);
    CHECK(program.sends.uses[0].block == 0);
    CHECK(program.sends.uses[1].block == 4);
    CHECK(program.sends.uses[0].turn == 1); // after one receive
    CHECK(program.sends.uses[1].turn == 2);
    CHECK(program.sends.uses[2].turn == 0);
    REQUIRE(program.receives.messages.size() == 2);
    CHECK(program.receives.uses[2].turn == 1);
    CHECK(program.receives.messages[0].elements == 4);
    CHECK(program.receives.messages[1].elements == 2);
}

TEST_CASE("empty blocks make no messages, and a message of empty blocks alone is none") {
    rank_schedule const share{.sends = {{0, 1, 0}, {0, 1, 1}, {2, 1, 2}, {5, 1, 3}}, .receives = {}};
    auto const program =
        compile(reduction, share, ranges_of({2, 4}), std::vector<bool>(4), {}); // sizes 0 1 0 1
    REQUIRE(program.sends.messages.size() == 2);
    CHECK(program.sends.messages[0].elements == 1);
    CHECK(program.sends.messages[1].elements == 1);
    CHECK(compile(reduction, share, ranges_of({0, 4}), std::vector<bool>(4), {}).sends.messages.empty());
}

TEST_CASE("elements of a message are counted beyond INT_MAX") {
    auto const huge = std::size_t(std::numeric_limits<int>::max()) + 10;
    rank_schedule const share{.sends = {{0, 1, 0}, {0, 1, 1}}, .receives = {{1, 1, 0}}};
    auto const program = compile(reduction, share, ranges_of({huge * 2, 2}), std::vector<bool>(2), {});
    CHECK(program.sends.messages[0].elements == huge * 2);
    CHECK(program.receives.messages[0].elements == huge);
}

TEST_CASE("schedules that cannot be executed are refused") {
    auto const two = ranges_of({10, 2});
    CHECK_THROWS_AS(
        (void)compile(reduction, {.sends = {{0, 1, 2}}, .receives = {}}, two, std::vector<bool>(2), {}),
        std::invalid_argument);
    CHECK_THROWS_AS(
        (void)compile(reduction, {.sends = {}, .receives = {{0, 1, -1}}}, two, std::vector<bool>(2), {}),
        std::invalid_argument);
    CHECK_THROWS_AS((void)compile(reduction, {.sends = {{3, 1, 1}}, .receives = {{3, 1, 1}}}, two,
                                  std::vector<bool>(2), {}),
                    std::invalid_argument);
    CHECK_NOTHROW((void)compile(reduction, {.sends = {{3, 1, 0}}, .receives = {{3, 1, 1}}}, two,
                                std::vector<bool>(2), {}));
}

TEST_CASE("a send of a dissemination waits for the one receive of its block, however often it is sent") {
    rank_schedule const share{.sends = {{1, 1, 0}, {1, 1, 2}, {3, 2, 1}, {7, 3, 1}, {9, 3, 2}},
                              .receives = {{0, 2, 2}, {2, 0, 1}}};
    auto const program = compile(dissemination, share, ranges_of({6, 3}), {true, false, false}, {});
    CHECK(program.kind == dissemination);
    REQUIRE(program.sends.messages.size() == 4);
    CHECK(program.sends.messages[0].use_count == 2);
    CHECK(program.sends.uses[0].turn == 0); // the block is there at first
    for (std::size_t i = 1; i < 5; ++i) CHECK(program.sends.uses[i].turn == 1);
    CHECK(program.is_owned(0));
    CHECK_FALSE(program.is_owned(1));
}

TEST_CASE("disseminations that cannot be executed are refused") {
    auto const two = ranges_of({10, 2});
    std::vector<bool> const first{true, false};
    auto const refused = [&](rank_schedule const& share) {
        CHECK_THROWS_AS((void)compile(dissemination, share, two, first, {}), std::invalid_argument);
    };
    refused({.sends = {}, .receives = {{0, 1, 1}, {2, 1, 1}}}); // twice
    refused({.sends = {}, .receives = {{0, 1, 1}, {0, 2, 1}}}); // twice in one step
    refused({.sends = {}, .receives = {{0, 1, 0}}});            // there already
    refused({.sends = {{0, 1, 1}}, .receives = {{1, 2, 1}}});   // before it is there
    refused({.sends = {{1, 1, 1}}, .receives = {{1, 2, 1}}});   // in the step in which it comes
    refused({.sends = {{1, 1, 1}}, .receives = {}});            // it never comes
    refused({.sends = {{0, 1, 2}}, .receives = {}});            // there is no such block
    CHECK_NOTHROW((void)compile(dissemination, {.sends = {{2, 1, 1}, {2, 1, 0}}, .receives = {{1, 2, 1}}},
                                two, first, {}));
    CHECK_NOTHROW(
        (void)compile(dissemination, {.sends = {{1, 1, 0}}, .receives = {{1, 2, 1}}}, two, first, {}));
    // A reduction may bring a block back, or send it unasked.
    CHECK_NOTHROW(
        (void)compile(reduction, {.sends = {}, .receives = {{0, 1, 1}, {2, 1, 1}}}, two, first, {}));
    CHECK_NOTHROW((void)compile(reduction, {.sends = {{0, 1, 1}}, .receives = {{1, 2, 1}}}, two, first, {}));
}

TEST_CASE("messages are cut where the windows say, between blocks alone and equally at both ends") {
    auto const blocks = ranges_of({60, 6}); // 10 elements each
    papcoll::message_windows windows;
    auto const lengths = [&](std::size_t longest, bool sends) {
        windows.longest_elements = longest;
        std::vector<papcoll::rank_transfer> transfers;
        for (int const b : {5, 0, 3, 1, 4}) transfers.push_back({2, 1, b});
        transfers.push_back({3, 1, 2});
        rank_schedule const share{.sends = sends ? transfers : decltype(transfers){},
                                  .receives = sends ? decltype(transfers){} : transfers};
        auto const program = compile(reduction, share, blocks, std::vector<bool>(6), windows);
        auto const& side = sends ? program.sends : program.receives;
        std::vector<std::size_t> result;
        int uses = 0;
        for (auto const& m : side.messages) {
            CHECK(m.first_use == uses);
            uses += m.use_count;
            CHECK(m.elements == 10 * static_cast<std::size_t>(m.use_count));
            result.push_back(m.elements);
        }
        CHECK(uses == 6);
        return result;
    };
    using sizes = std::vector<std::size_t>;
    for (bool const sends : {true, false}) {
        CHECK(lengths(0, sends) == sizes{50, 10});
        CHECK(lengths(50, sends) == sizes{50, 10});
        CHECK(lengths(49, sends) == sizes{40, 10, 10});
        CHECK(lengths(20, sends) == sizes{20, 20, 10, 10});
        CHECK(lengths(1, sends) == sizes(6, 10)); // a block is never cut
    }
}
