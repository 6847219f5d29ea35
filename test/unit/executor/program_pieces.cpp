// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/executor/compile_program.hpp>
#include <papcoll/executor/program_pieces.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <random>
#include <utility>
#include <vector>

using papcoll::block_range;
using papcoll::message_program;
using papcoll::rank_schedule;

namespace {

/// The elements of each message, with what happens to them before.
using element_use = std::pair<std::size_t, int>;
auto elements_of(message_program const& program, message_program::side const& side)
    -> std::vector<std::vector<element_use>> {
    std::vector<std::vector<element_use>> messages;
    for (auto const& m : side.messages) {
        messages.emplace_back();
        for (auto const& use : side.uses_of(m))
            for (std::size_t i = 0; i < program.size(use.block); ++i)
                messages.back().emplace_back(program.offset(use.block) + i, use.turn);
    }
    return messages;
}
template <class T>
auto joined(std::vector<std::vector<T>> const& lists) -> std::vector<T> {
    std::vector<T> all;
    for (auto const& list : lists) all.insert(all.end(), list.begin(), list.end());
    return all;
}

/// Some blocks of all sizes, each of which is sent to some ranks in some steps, several in a message.
auto random_program(std::mt19937& random) -> message_program {
    auto const at_most = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n + 1)); };
    std::vector<block_range> blocks;
    std::vector<bool> owned;
    rank_schedule share;
    std::size_t next = 0;
    for (int b = 0; b <= at_most(12); ++b) {
        blocks.push_back({next, static_cast<std::size_t>(at_most(1) * at_most(40))});
        next += blocks.back().size + static_cast<std::size_t>(at_most(2));
        owned.push_back(at_most(1) == 0);
        if (!owned.back()) share.receives.push_back({at_most(2), 7, b});
        for (int peer = 0; peer < at_most(3); ++peer) share.sends.push_back({3 + at_most(2), peer, b});
    }
    papcoll::message_windows windows;
    windows.longest_elements = static_cast<std::size_t>(at_most(30));
    return papcoll::detail::compile_uncut(papcoll::schedule_kind::dissemination, share, blocks, owned,
                                          windows);
}

} // namespace

TEST_CASE(
    "the pieces of a program move the same elements in the same order, and are as short as they should") {
    std::mt19937 random(1);
    for (int repetition = 0; repetition < 300; ++repetition) {
        CAPTURE(repetition);
        auto const whole = random_program(random);
        std::size_t const longest_block = 1 + random() % 20;
        auto const pieces = papcoll::cut(whole, longest_block);
        REQUIRE(pieces);
        CHECK(pieces->piece_elements == 0);
        for (auto const& [a, b] :
             {std::pair{&whole.sends, &pieces->sends}, {&whole.receives, &pieces->receives}}) {
            auto const before = elements_of(whole, *a);
            auto const after = elements_of(*pieces, *b);
            CHECK(joined(before) == joined(after));
            for (std::size_t m = 0; m < after.size(); ++m) {
                auto const& message = b->messages[m];
                CHECK(message.elements == after[m].size());
                auto const longest = whole.windows.longest_elements;
                CHECK((longest == 0 || message.use_count == 1 || message.elements <= longest));
            }
            if (whole.windows.longest_elements == 0) CHECK(before.size() == after.size());
        }
        // The pieces of a block are about equal, and its own.
        std::size_t elements = 0;
        for (std::size_t p = 0; p < pieces->blocks.size(); ++p) {
            auto const& piece = pieces->blocks[p];
            CHECK(piece.size <= longest_block);
            elements += piece.size;
            for (std::size_t b = 0; b < whole.blocks.size() && piece.size > 0; ++b) {
                auto const& block = whole.blocks[b];
                if (piece.offset < block.offset || piece.offset >= block.offset + block.size) continue;
                CHECK(piece.offset + piece.size <= block.offset + block.size);
                CHECK(pieces->owned[p] == whole.owned[b]);
            }
        }
        for (auto const& block : whole.blocks) elements -= block.size;
        CHECK(elements == 0);
    }
}

TEST_CASE("a program that would be larger than the limit when it is cut is left as it is") {
    std::mt19937 random(2);
    for (int repetition = 0; repetition < 300; ++repetition) {
        auto const whole = random_program(random);
        std::size_t const longest_block = 1 + random() % 8;
        auto const all = papcoll::cut(whole, longest_block);
        std::size_t const limit = random() % 8'000;
        auto const pieces = papcoll::cut(whole, longest_block, limit);
        // Bits come in words; as many bytes are reckoned with. The last message may just not fit.
        if (pieces) CHECK(pieces->held_bytes() <= limit + 8);
        if (!pieces)
            CHECK(all->held_bytes() + all->blocks.size() + sizeof(message_program::message) >= limit);
    }
    // Even where there would be more pieces than can be numbered.
    message_program huge;
    huge.blocks = {{0, std::size_t(1) << 50}};
    huge.owned = {true};
    CHECK_FALSE(papcoll::cut(huge, 1, 100'000));
}

TEST_CASE("what is executed is the program itself, unless it is kept uncut") {
    std::mt19937 random(3);
    auto const program = std::make_shared<message_program>(random_program(random));
    CHECK(papcoll::executable(program) == program);
    program->piece_elements = 2;
    program->scratch = 5;
    auto const executed = papcoll::executable(program);
    CHECK(executed->blocks == papcoll::cut(*program, 2)->blocks);
    CHECK(executed->blocks.size() > program->blocks.size());
    CHECK(executed->scratch == 5);
}

TEST_CASE("the memory of a program is that of its lists, used or not") {
    message_program program;
    CHECK(program.held_bytes() == 0);
    program.blocks.reserve(100);
    program.sends.messages.reserve(10);
    program.receives.uses.reserve(7);
    CHECK(program.held_bytes() == 100 * sizeof(block_range) + 10 * sizeof(message_program::message) +
                                      7 * sizeof(message_program::block_use));
    program.owned.resize(800);
    CHECK(program.held_bytes() >= 2'000);
}
