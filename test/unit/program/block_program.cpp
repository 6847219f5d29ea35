// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/analysis/verify_program.hpp>
#include <papcoll/program/block_program.hpp>
#include <papcoll/schedule/block_partition.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../support/program_lists.hpp"
#include "../../support/random_reduction.hpp"

namespace {

using papcoll::block_places;
using papcoll::block_range;
using papcoll::memory;
using papcoll::program;
using papcoll::program_builder;
using papcoll::promise_of;
using papcoll::ranges_of;
using papcoll::rank_schedule;
using papcoll::region;
using program_lists::action;
using program_lists::message;

constexpr auto reduction = papcoll::schedule_kind::reduction;
constexpr auto dissemination = papcoll::schedule_kind::dissemination;
using ranges = std::vector<block_range>;
using flags = std::vector<bool>;

/// Operands are in `in`, results in `out`, at the same offset; what is disseminated lies in `out`.
auto places_of(papcoll::schedule_kind kind, ranges const& blocks, flags const& owned) -> block_places {
    block_places places{std::vector<region>(blocks.size()), std::vector<region>(blocks.size()), owned};
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        region const in(memory::in, blocks[b].offset, blocks[b].size);
        region const out(memory::out, blocks[b].offset, blocks[b].size);
        if (kind == reduction) {
            places.held[b] = in;
            if (owned[b]) places.result[b] = out;
        } else {
            (owned[b] ? places.held : places.result)[b] = out;
        }
    }
    return places;
}
auto lowered(papcoll::schedule_kind kind, rank_schedule const& share, ranges const& blocks,
             flags const& owned, int rank = 0) -> program {
    program_builder to;
    lower(to, kind, share, rank, places_of(kind, blocks, owned));
    return to.finish();
}
auto spread(rank_schedule const& operands, rank_schedule const& results, ranges const& blocks,
            flags const& owned) -> program {
    auto places = places_of(reduction, blocks, owned);
    for (std::size_t b = 0; b < blocks.size(); ++b)
        places.result[b] = region(memory::out, blocks[b].offset, blocks[b].size);
    program_builder to;
    lower_spread(to, operands, results, 0, places);
    return to.finish();
}
auto complaint(std::function<void()> const& f) -> std::string {
    try {
        f();
    } catch (std::invalid_argument const& e) {
        return e.what();
    }
    return "nothing was thrown";
}
auto regions_of(program const& p, action what, std::size_t which = 0) -> std::vector<region> {
    for (program::index i = 0; i < p.size(); ++i)
        if (p.instructions[i].what == what && which-- == 0) {
            auto const all = p.regions_of(i);
            return {all.begin(), all.end()};
        }
    return {};
}
auto in(std::size_t offset, std::size_t size) -> region { return {memory::in, offset, size}; }
auto out(std::size_t offset, std::size_t size) -> region { return {memory::out, offset, size}; }

auto has(std::string const& text, std::string const& words) -> bool {
    return text.find(words) != std::string::npos;
}

} // namespace

TEST_CASE("transfers of one step and peer are one message, in block order") {
    rank_schedule const share{.sends = {{3, 1, 4}, {3, 1, 0}, {4, 1, 2}},
                              .receives = {{0, 2, 0}, {0, 2, 4}, {1, 2, 4}}};
    auto const p = lowered(reduction, share, ranges_of({10, 5}), flags(5));
    CHECK(program_lists::messages(p, action::send) == std::vector<message>{{1, 4}, {1, 2}});
    CHECK(program_lists::messages(p, action::receive) == std::vector<message>{{2, 4}, {2, 2}});
    CHECK(regions_of(p, action::send, 1) == std::vector{in(4, 2)});
    // Rank 2 is above: what it sends is on the right.
    auto const combined = regions_of(p, action::combine);
    REQUIRE(combined.size() == 6);
    CHECK(combined[1] == in(0, 2));
    CHECK(combined[4] == in(8, 2));
    CHECK(combined[2].where() == memory::scratch);
}

TEST_CASE("the operand of the lower rank is on the left") {
    for (int const peer : {1, 5}) {
        auto const p = lowered(reduction, {.sends = {}, .receives = {{0, peer, 0}}}, {{0, 4}}, {true}, 3);
        auto const combined = regions_of(p, action::combine);
        REQUIRE(combined.size() == 3);
        CHECK(combined[0] == out(0, 4));
        CHECK(combined[peer < 3 ? 2 : 1] == in(0, 4));
    }
}

TEST_CASE("empty blocks make no messages, and a message of empty blocks alone is none") {
    rank_schedule const share{.sends = {{0, 1, 0}, {0, 1, 1}, {2, 1, 2}, {5, 1, 3}}, .receives = {}};
    auto const p = lowered(reduction, share, ranges_of({2, 4}), flags(4)); // sizes 0 1 0 1
    CHECK(program_lists::messages(p, action::send) == std::vector<message>{{1, 1}, {1, 1}});
    CHECK(lowered(reduction, share, ranges_of({0, 4}), flags(4)).instructions.empty());
    rank_schedule const operands{.sends = {{0, 1, 0}}, .receives = {{0, 1, 1}}};
    rank_schedule const results{.sends = {{1, 1, 1}}, .receives = {{1, 1, 0}}};
    CHECK(spread(operands, results, ranges_of({0, 2}), {false, true}).instructions.empty());
}

TEST_CASE("elements of a message are counted beyond INT_MAX") {
    auto const huge = std::size_t(std::numeric_limits<int>::max()) + 10;
    rank_schedule const share{.sends = {{0, 1, 0}, {0, 1, 1}}, .receives = {{1, 1, 0}}};
    auto const p = lowered(reduction, share, ranges_of({huge * 2, 2}), flags(2));
    CHECK(program_lists::elements(p, action::send) == huge * 2);
    CHECK(program_lists::elements(p, action::receive) == huge);
}

TEST_CASE("reductions that cannot be executed are refused") {
    auto const says = [](rank_schedule const& share) {
        return complaint([&] { (void)lowered(reduction, share, ranges_of({10, 2}), flags(2)); });
    };
    std::string const no_block = "names a block that the problem does not have";
    CHECK(has(says({.sends = {{0, 1, 2}}, .receives = {}}), no_block));
    CHECK(has(says({.sends = {}, .receives = {{0, 1, -1}}}), no_block));
    CHECK(has(says({.sends = {{3, 1, 1}}, .receives = {{3, 1, 1}}}),
              "is in the step in which its receiver also sends this block"));
    CHECK(has(says({.sends = {{0, 1, 0}, {1, 1, 0}}, .receives = {}}),
              "its sender does not hold the block then"));
    CHECK(has(says({.sends = {{3, 1, 0}}, .receives = {{3, 1, 1}}}), "nothing was thrown"));
    // A block may come back, or be sent unasked.
    CHECK(has(says({.sends = {}, .receives = {{0, 1, 1}, {2, 1, 1}}}), "nothing was thrown"));
    CHECK(has(says({.sends = {{0, 1, 1}}, .receives = {{1, 2, 1}}}), "nothing was thrown"));
}

TEST_CASE("a send of a dissemination waits for the one receive of its block, however often it is sent") {
    rank_schedule const share{.sends = {{1, 1, 0}, {1, 1, 2}, {3, 2, 1}, {7, 3, 1}, {9, 3, 2}},
                              .receives = {{0, 2, 2}, {2, 0, 1}}};
    auto const p = lowered(dissemination, share, ranges_of({6, 3}), {true, false, false});
    CHECK(program_lists::messages(p, action::send) == std::vector<message>{{1, 4}, {2, 2}, {3, 2}, {3, 2}});
    CHECK(p.scratch == 0);
    std::vector<program::index> receives;
    for (program::index i = 0; i < p.size(); ++i) {
        if (p.instructions[i].what == action::receive) receives.push_back(i);
        CHECK(p.waits_of(i).size() == (p.instructions[i].what == action::send ? 1 : 0));
    }
    CHECK(receives.size() == 2);
}

TEST_CASE("disseminations that cannot be executed are refused") {
    auto const says = [](rank_schedule const& share) {
        return complaint([&] { (void)lowered(dissemination, share, ranges_of({10, 2}), {true, false}); });
    };
    std::string const there = "delivers a block where it is already";
    std::string const missing = "its sender does not hold the block then";
    CHECK(has(says({.sends = {}, .receives = {{0, 1, 1}, {2, 1, 1}}}), there)); // twice
    CHECK(has(says({.sends = {}, .receives = {{0, 1, 1}, {0, 2, 1}}}), there)); // twice in one step
    CHECK(has(says({.sends = {}, .receives = {{0, 1, 0}}}), there));            // its own
    CHECK(has(says({.sends = {{0, 1, 1}}, .receives = {{1, 2, 1}}}), missing)); // too early
    CHECK(
        has(says({.sends = {{1, 1, 1}}, .receives = {{1, 2, 1}}}), missing)); // in the step in which it comes
    CHECK(has(says({.sends = {{1, 1, 1}}, .receives = {}}), missing));        // it never comes
    CHECK(says({.sends = {{0, 1, 2}}, .receives = {}}).find("names a block") != std::string::npos);
    CHECK(has(says({.sends = {{2, 1, 1}, {2, 1, 0}}, .receives = {{1, 2, 1}}}), "nothing was thrown"));
    CHECK(has(says({.sends = {{1, 1, 0}}, .receives = {{1, 2, 1}}}), "nothing was thrown"));
}

TEST_CASE("messages of both halves are in the order of steps, operands first") {
    rank_schedule const operands{.sends = {{0, 1, 0}, {4, 2, 2}}, .receives = {{1, 3, 1}, {3, 2, 1}}};
    rank_schedule const results{.sends = {{4, 3, 1}, {5, 1, 1}, {6, 1, 0}}, .receives = {{2, 1, 0}}};
    auto const p = spread(operands, results, ranges_of({9, 3}), {false, true, false});
    CHECK(program_lists::peers(p, action::send) == std::vector{1, 2, 3, 1, 1});
    CHECK(program_lists::peers(p, action::receive) == std::vector{3, 1, 2});
    for (auto const what : {action::send, action::receive})
        for (auto const& m : program_lists::messages(p, what)) CHECK(m.elements == 3);
}

TEST_CASE("an operand and a result of one step between two ranks are two messages") {
    rank_schedule const operands{.sends = {{0, 1, 0}, {0, 1, 1}}, .receives = {}};
    rank_schedule const results{.sends = {{0, 1, 2}}, .receives = {}};
    auto const p = spread(operands, results, ranges_of({9, 3}), {false, false, true});
    CHECK(program_lists::messages(p, action::send) == std::vector<message>{{1, 6}, {1, 3}});
}

TEST_CASE("two halves that cannot be executed are refused") {
    auto const says = [](rank_schedule const& operands, rank_schedule const& results) {
        return complaint([&] { (void)spread(operands, results, ranges_of({10, 2}), {true, false}); });
    };
    rank_schedule const none;
    CHECK(says({.sends = {{0, 1, 2}}, .receives = {}}, none).find("names a block") != std::string::npos);
    CHECK(says(none, {.sends = {}, .receives = {{0, 1, -1}}}).find("names a block") != std::string::npos);
    CHECK(says({.sends = {{3, 1, 1}}, .receives = {{3, 1, 1}}}, none)
              .find("is in the step in which its receiver also sends") != std::string::npos);
    CHECK(says(none, {.sends = {}, .receives = {{0, 1, 0}}}).find("where it is already") !=
          std::string::npos);
    CHECK(says(none, {.sends = {{1, 1, 1}}, .receives = {}}).find("does not hold the block then") !=
          std::string::npos);
    std::string const early = "is still to be combined when the block is spread already";
    CHECK(has(says({.sends = {}, .receives = {{2, 1, 0}}}, {.sends = {{2, 1, 0}}, .receives = {}}), early));
    CHECK(has(says({.sends = {}, .receives = {{5, 1, 0}}}, {.sends = {{2, 1, 0}}, .receives = {}}), early));
    CHECK(has(says({.sends = {{4, 1, 1}}, .receives = {{1, 1, 0}}},
                   {.sends = {{2, 1, 0}}, .receives = {{5, 1, 1}}}),
              "nothing was thrown"));
}

TEST_CASE("random reductions, with blocks that come back, to one owner or several, in place or not") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        int const ranks = 2 + static_cast<int>(seed % 6);
        int const blocks = static_cast<int>(1 + seed / 7);
        std::size_t const n = 13 * static_cast<std::size_t>(blocks) + seed % 5;
        auto const all = ranges_of({n, blocks});
        int const root = static_cast<int>(seed) % ranks;
        for (bool const in_place : {false, true})
            for (std::size_t const longest : {0u, 1u, 7u}) {
                std::vector<program> programs;
                for (int rank = 0; rank < ranks; ++rank) {
                    papcoll::problem const p{.ranks = ranks, .root = root, .blocks = blocks};
                    auto const share = random_reduction{seed}.for_rank(p, rank);
                    program_builder to(in_place && rank == root);
                    to.use({.longest_elements = longest});
                    flags const owned(static_cast<std::size_t>(blocks), rank == root);
                    lower(to, reduction, share, rank, places_of(reduction, all, owned));
                    programs.push_back(to.finish());
                }
                CAPTURE(seed);
                CAPTURE(in_place);
                CAPTURE(longest);
                auto const kept = promise_of(ranks).in_place(root, in_place).reduce(root, n);
                CHECK(verify(programs, kept).value_or("") == "");
            }
    }
}

TEST_CASE("results that move in place do not meet operands that are still needed") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        int const ranks = 2 + static_cast<int>(seed % 5);
        int const each = 1 + static_cast<int>(seed % 3);
        int const blocks = ranks * each;
        std::vector<int> owners;
        for (int b = 0; b < blocks; ++b) owners.push_back(b / each);
        std::size_t const n = static_cast<std::size_t>(blocks) * 3;
        auto const all = ranges_of({n, blocks});
        std::vector<program> programs;
        promise_of make(ranks);
        std::vector<block_range> parts;
        for (int rank = 0; rank < ranks; ++rank) {
            papcoll::problem const p{.ranks = ranks, .blocks = blocks, .owners = owners};
            auto const first = static_cast<std::size_t>(rank * each) * 3;
            parts.push_back({first, static_cast<std::size_t>(each) * 3});
            flags owned;
            for (int const owner : owners) owned.push_back(owner == rank);
            auto places = places_of(reduction, all, owned);
            for (std::size_t b = 0; b < owned.size(); ++b)
                if (owned[b]) places.result[b] = out(all[b].offset - first, all[b].size);
            program_builder to(rank % 2 == 0);
            lower(to, reduction, random_reduction{seed}.for_rank(p, rank), rank, places);
            programs.push_back(to.finish());
            make.in_place(rank, rank % 2 == 0);
        }
        CAPTURE(seed);
        CHECK(verify(programs, make.reduce_scatter(parts)).value_or("") == "");
    }
}

TEST_CASE("blocks that a rank only passes on lie in memory of papcoll's") {
    // Of ranks 0 … 2 each has a block; 1 gives its own and that of 2 to 0, and has no place for the latter.
    rank_schedule const shares[] = {{.sends = {}, .receives = {{1, 1, 1}, {1, 1, 2}}},
                                    {.sends = {{1, 0, 1}, {1, 0, 2}}, .receives = {{0, 2, 2}}},
                                    {.sends = {{0, 1, 2}}, .receives = {}}};
    std::vector<program> programs;
    for (int rank = 0; rank < 3; ++rank) {
        program_builder to;
        block_places places{
            std::vector<region>(3), std::vector<region>(3), {rank == 0, rank == 1, rank == 2}};
        places.held[static_cast<std::size_t>(rank)] = in(0, 4);
        if (rank == 0) {
            to.copy(out(0, 4), in(0, 4));
            places.result = {region(), out(4, 4), out(8, 4)};
        } else if (rank == 1) {
            places.result[2] = to.scratch(4);
        }
        lower(to, dissemination, shares[rank], rank, places);
        programs.push_back(to.finish());
    }
    ranges const parts{{0, 4}, {4, 4}, {8, 4}};
    CHECK(verify(programs, promise_of(3).gather(0, parts)).value_or("") == "");
    CHECK(programs[1].scratch == 4);
}

TEST_CASE("what is received and given away again takes little memory, however many blocks there are") {
    rank_schedule share;
    int const blocks = 1000;
    for (int b = 0; b < blocks; ++b) {
        share.receives.push_back({b, 2, b});
        share.sends.push_back({b + 1, 0, b});
    }
    auto const p = lowered(reduction, share, ranges_of({10 * std::size_t(blocks), blocks}), flags(blocks), 1);
    CHECK(program_lists::count(p, action::combine) == blocks);
    CHECK(p.scratch <= 10 * 24);
    CHECK(p.scratch >= 10 * 3); // enough for some to be under way
}
