// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/executor/spread_program.hpp>

#include <doctest/doctest.h>

#include <stdexcept>
#include <utility>
#include <vector>

using papcoll::compile_spread;
using papcoll::ranges_of;
using papcoll::rank_schedule;

namespace {

auto messages(papcoll::message_program::side const& side) -> std::vector<std::pair<int, std::vector<int>>> {
    std::vector<std::pair<int, std::vector<int>>> result;
    for (auto const& m : side.messages) {
        std::vector<int> turns;
        for (auto const& use : side.uses_of(m)) turns.push_back(use.turn);
        result.emplace_back(m.peer, turns);
    }
    return result;
}

} // namespace

TEST_CASE("messages of both halves are one list in step order, operands first; results have no turn") {
    rank_schedule const operands{.sends = {{0, 1, 0}, {4, 2, 2}}, .receives = {{1, 3, 1}, {3, 2, 1}}};
    rank_schedule const results{.sends = {{4, 3, 1}, {5, 1, 1}, {6, 1, 0}}, .receives = {{2, 1, 0}}};
    auto const program = compile_spread(operands, results, ranges_of({9, 3}), {false, true, false}, {});
    using list = std::vector<std::pair<int, std::vector<int>>>;
    CHECK((messages(program.sends) == list{{1, {0}}, {2, {0}}, {3, {-1}}, {1, {-1}}, {1, {-1}}}));
    CHECK((messages(program.receives) == list{{3, {0}}, {1, {-1}}, {2, {1}}}));
    for (auto const* side : {&program.sends, &program.receives})
        for (auto const& m : side->messages) CHECK(m.elements == 3);
    CHECK(program.is_owned(1));
}

TEST_CASE("an operand and a result of one step between two ranks are two messages") {
    rank_schedule const operands{.sends = {{0, 1, 0}, {0, 1, 1}}, .receives = {}};
    rank_schedule const results{.sends = {{0, 1, 2}}, .receives = {}};
    auto const program = compile_spread(operands, results, ranges_of({9, 3}), {false, false, true}, {});
    REQUIRE(program.sends.messages.size() == 2);
    CHECK(program.sends.messages[0].use_count == 2);
    CHECK_FALSE(papcoll::detail::moves_result(program.sends.uses_of(program.sends.messages[0])));
    CHECK(papcoll::detail::moves_result(program.sends.uses_of(program.sends.messages[1])));
}

TEST_CASE("empty blocks are in no message") {
    rank_schedule const operands{.sends = {{0, 1, 0}}, .receives = {{0, 1, 1}}};
    rank_schedule const results{.sends = {{1, 1, 1}}, .receives = {{1, 1, 0}}};
    auto const program = compile_spread(operands, results, ranges_of({0, 2}), {false, true}, {});
    CHECK(program.sends.messages.empty());
    CHECK(program.receives.messages.empty());
}

TEST_CASE("two halves that cannot be executed are refused") {
    auto const refused = [](rank_schedule const& operands, rank_schedule const& results) {
        CHECK_THROWS_AS(
            (void)compile_spread(operands, results, ranges_of({10, 2}), std::vector{true, false}, {}),
            std::invalid_argument);
    };
    rank_schedule const none;
    refused({.sends = {{0, 1, 2}}, .receives = {}}, none);          // no such block
    refused(none, {.sends = {}, .receives = {{0, 1, -1}}});         // no such block
    refused({.sends = {{3, 1, 1}}, .receives = {{3, 1, 1}}}, none); // both ways in one step
    refused(none, {.sends = {}, .receives = {{0, 1, 0}}});          // delivered to its owner
    refused(none, {.sends = {{1, 1, 1}}, .receives = {}});          // sent, but never there
    refused({.sends = {}, .receives = {{2, 1, 0}}}, {.sends = {{2, 1, 0}}, .receives = {}});
    refused({.sends = {}, .receives = {{5, 1, 0}}}, {.sends = {{2, 1, 0}}, .receives = {}});
    refused({.sends = {{4, 1, 1}}, .receives = {}}, {.sends = {}, .receives = {{4, 1, 1}}});
    CHECK_NOTHROW((void)compile_spread({.sends = {{4, 1, 1}}, .receives = {{1, 1, 0}}},
                                       {.sends = {{2, 1, 0}}, .receives = {{5, 1, 1}}}, ranges_of({10, 2}),
                                       {true, false}, {}));
}
