// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/executor/message_program.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>

using papcoll::block_partition;
using papcoll::compile;
using papcoll::rank_schedule;

TEST_CASE("transfers of one step and peer are one message, in block order") {
    rank_schedule const share{.sends = {{3, 1, 4}, {3, 1, 0}, {4, 1, 2}},
                              .receives = {{0, 2, 0}, {0, 2, 4}, {1, 2, 4}}};
    auto const program = compile(share, block_partition{10, 5}, std::vector<bool>(5), {});
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
    CHECK(program.longest_receive() == 4);
}

TEST_CASE("empty blocks make no messages, and a message of empty blocks alone is none") {
    rank_schedule const share{.sends = {{0, 1, 0}, {0, 1, 1}, {2, 1, 2}, {5, 1, 3}}, .receives = {}};
    auto const program = compile(share, block_partition{2, 4}, std::vector<bool>(4), {}); // sizes 0 1 0 1
    REQUIRE(program.sends.messages.size() == 2);
    CHECK(program.sends.messages[0].elements == 1);
    CHECK(program.sends.messages[1].elements == 1);
    CHECK(compile(share, block_partition{0, 4}, std::vector<bool>(4), {}).sends.messages.empty());
}

TEST_CASE("elements of a message are counted beyond INT_MAX") {
    auto const huge = std::size_t(std::numeric_limits<int>::max()) + 10;
    rank_schedule const share{.sends = {{0, 1, 0}, {0, 1, 1}}, .receives = {{1, 1, 0}}};
    auto const program = compile(share, block_partition{huge * 2, 2}, std::vector<bool>(2), {});
    CHECK(program.sends.messages[0].elements == huge * 2);
    CHECK(program.longest_receive() == huge);
}

TEST_CASE("schedules that cannot be executed are refused") {
    block_partition const two{10, 2};
    CHECK_THROWS_AS((void)compile({.sends = {{0, 1, 2}}, .receives = {}}, two, std::vector<bool>(2), {}),
                    std::invalid_argument);
    CHECK_THROWS_AS((void)compile({.sends = {}, .receives = {{0, 1, -1}}}, two, std::vector<bool>(2), {}),
                    std::invalid_argument);
    CHECK_THROWS_AS(
        (void)compile({.sends = {{3, 1, 1}}, .receives = {{3, 1, 1}}}, two, std::vector<bool>(2), {}),
        std::invalid_argument);
    CHECK_NOTHROW(
        (void)compile({.sends = {{3, 1, 0}}, .receives = {{3, 1, 1}}}, two, std::vector<bool>(2), {}));
}
