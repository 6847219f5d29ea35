// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/context/attach.hpp>
#include <papcoll/executor/combine.hpp>
#include <papcoll/executor/compile_program.hpp>
#include <papcoll/executor/copy.hpp>
#include <papcoll/executor/program_pieces.hpp>
#include <papcoll/transport/threads.hpp>

#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

using papcoll::message_windows;
using papcoll::schedule_kind;
using papcoll::transfer;
using papcoll::threads::endpoint;
using papcoll::threads::options;

namespace {

std::array const all_windows = {
    message_windows{.receives = 1, .sends = 1, .admission = true, .tail_bytes = 0, .longest_elements = 0},
    message_windows{.receives = 1, .sends = 1, .admission = true, .tail_bytes = 9, .longest_elements = 0},
    message_windows{.receives = 2, .sends = 1, .admission = true, .tail_bytes = 1000, .longest_elements = 5},
    message_windows{.receives = 1, .sends = 3, .admission = true, .tail_bytes = 16, .longest_elements = 4},
    message_windows{.receives = 1, .sends = 1, .admission = false, .tail_bytes = 0, .longest_elements = 0},
    message_windows{.receives = 8, .sends = 8, .admission = false, .tail_bytes = 0, .longest_elements = 4},
    // Messages of one block are not admitted, longer ones are.
    message_windows{.tail_bytes = 9, .longest_elements = 0, .unadmitted_elements = 4, .unadmitted = 2},
    message_windows{.tail_bytes = 0, .longest_elements = 8, .unadmitted_elements = 4},
};
std::array const all_options = {
    options{},
    options{.eager_limit = 0, .seed = 5},
    options{.eager_limit = 10, .seed = 6, .max_message_bytes = 7},
};

auto share_of(std::vector<transfer> const& all, int rank) -> papcoll::rank_schedule {
    papcoll::rank_schedule share;
    for (auto const& t : all) {
        if (t.from == rank) share.sends.push_back({t.step, t.to, t.block});
        if (t.to == rank) share.receives.push_back({t.step, t.from, t.block});
    }
    return share;
}

/// Blocks that neither fill the data nor lie in order: 4 elements each, gaps of 1, from the back.
auto ranges(int blocks) -> std::vector<papcoll::block_range> {
    std::vector<papcoll::block_range> result;
    for (int b = 0; b < blocks; ++b) result.push_back({static_cast<std::size_t>(5 * (blocks - 1 - b)), 4});
    return result;
}

/// What is executed of this share; with `piece` it is kept uncut at first, and so are longer blocks.
auto program_of(schedule_kind kind, papcoll::rank_schedule const& share,
                std::vector<papcoll::block_range> const& blocks, std::vector<bool> const& owned,
                message_windows const& windows, std::size_t piece)
    -> std::shared_ptr<papcoll::message_program const> {
    if (piece == 0)
        return std::make_shared<papcoll::message_program const>(
            papcoll::compile(kind, share, blocks, owned, windows));
    auto kept = papcoll::detail::compile_uncut(kind, share, blocks, owned, windows);
    kept.piece_elements = piece;
    return papcoll::executable(std::make_shared<papcoll::message_program const>(std::move(kept)));
}

void execute(papcoll::operation& op) {
    while (!op.finished()) op.advance(true);
    if (op.failure()) std::rethrow_exception(op.failure());
}

/// Runs a dissemination on data that only the owners have; every rank checks every element.
void disseminate(int ranks, std::vector<int> const& owners, std::vector<transfer> const& all) {
    auto const blocks = ranges(static_cast<int>(owners.size()));
    for (auto const& windows : all_windows)
        for (auto const& o : all_options)
            papcoll::threads::run(ranks, o, [&](endpoint& self) {
                for (std::size_t const piece : {0u, 1u, 3u}) {
                    std::vector<int> data(5 * owners.size(), -1);
                    std::vector<int> expected = data;
                    std::vector<bool> owned;
                    for (std::size_t b = 0; b < owners.size(); ++b) {
                        owned.push_back(owners[b] == self.rank());
                        for (std::size_t i = 0; i < 4; ++i) {
                            expected[blocks[b].offset + i] = static_cast<int>(100 * b + i);
                            if (owned[b]) data[blocks[b].offset + i] = static_cast<int>(100 * b + i);
                        }
                    }
                    auto const program = program_of(schedule_kind::dissemination, share_of(all, self.rank()),
                                                    blocks, owned, windows, piece);
                    papcoll::copy_operation<endpoint, int> op(papcoll::detail::attached_context(self),
                                                              program, 0, data.data());
                    execute(op);
                    CHECK(data == expected);
                }
            });
}

/// Runs a reduction by strings of digits: who was combined, and in which order.
void reduce(int ranks, std::vector<int> const& owners, std::vector<transfer> const& all,
            std::vector<long> const& expected) {
    auto const blocks = ranges(static_cast<int>(owners.size()));
    auto const append = [](long a, long b) {
        long shift = 10;
        while (shift <= b) shift *= 10;
        return a * shift + b;
    };
    for (auto const& windows : all_windows)
        for (auto const& o : all_options)
            papcoll::threads::run(ranks, o, [&](endpoint& self) {
                for (std::size_t const piece : {0u, 1u, 3u}) {
                    std::vector<long> in(5 * owners.size(), self.rank() + 1), out(in.size(), -1),
                        result = out;
                    std::vector<bool> owned;
                    for (std::size_t b = 0; b < owners.size(); ++b) {
                        owned.push_back(owners[b] == self.rank());
                        for (std::size_t i = 0; i < 4 && owned[b]; ++i)
                            result[blocks[b].offset + i] = expected[b];
                    }
                    auto const program = program_of(schedule_kind::reduction, share_of(all, self.rank()),
                                                    blocks, owned, windows, piece);
                    papcoll::combine_operation<endpoint, long, decltype(append)> op(
                        papcoll::detail::attached_context(self), program, 0,
                        papcoll::reduction_buffers<long>{in.data(), out.data(), 0}, append);
                    execute(op);
                    CHECK(out == result);
                    CHECK(in == std::vector<long>(in.size(), self.rank() + 1));
                }
            });
}

} // namespace

TEST_CASE("a dissemination of blocks of several owners, some in one message") {
    disseminate(3, {0, 0, 1, 2, 2},
                {{0, 0, 1, 0},
                 {0, 0, 1, 1},
                 {0, 1, 2, 2},
                 {0, 2, 0, 3},
                 {0, 2, 0, 4}, // to the next
                 {4, 0, 1, 3},
                 {4, 0, 1, 4},
                 {4, 1, 2, 0},
                 {4, 1, 2, 1},
                 {4, 2, 0, 2}});
}
TEST_CASE("a message of blocks from all over the data") {
    disseminate(2, {0, 1, 0, 1, 0, 1},
                {{0, 0, 1, 0}, {0, 0, 1, 2}, {0, 0, 1, 4}, {0, 1, 0, 1}, {0, 1, 0, 3}, {0, 1, 0, 5}});
}
TEST_CASE("a chain: what arrives is sent on, long before the last block is there") {
    disseminate(4, {0, 0, 0},
                {{0, 0, 1, 0},
                 {1, 0, 1, 1},
                 {1, 1, 2, 0},
                 {2, 0, 1, 2},
                 {2, 1, 2, 1},
                 {2, 2, 3, 0},
                 {3, 1, 2, 2},
                 {3, 2, 3, 1},
                 {4, 2, 3, 2}});
}
TEST_CASE("nobody has anything to send") { disseminate(1, {0, 0}, {}); }

TEST_CASE("a reduction combines in the order of its steps, lower ranks on the left") {
    // 1 with 3, then the result with 2: both came from higher ranks
    reduce(3, {0}, {{0, 2, 0, 0}, {1, 1, 0, 0}}, {132});
    reduce(3, {0}, {{0, 1, 0, 0}, {1, 2, 0, 0}}, {123});
    reduce(3, {2}, {{0, 0, 1, 0}, {1, 1, 2, 0}}, {123});
    reduce(3, {1}, {{0, 0, 1, 0}, {1, 2, 1, 0}}, {123});
}
TEST_CASE("parts of all ranks are reduced at once") {
    reduce(3, {0, 1, 2}, {{0, 0, 1, 2}, {0, 1, 2, 0}, {0, 2, 0, 1}, {1, 1, 2, 2}, {1, 2, 0, 0}, {1, 0, 1, 1}},
           {123, 132, 123});
}
TEST_CASE("a block that was given away may come back, and be given away again") {
    // 1 gives 12 back; 0 stores it, combines 3 and gives all to 1 again, which stores it
    reduce(3, {1}, {{0, 0, 1, 0}, {1, 1, 0, 0}, {2, 2, 0, 0}, {3, 0, 1, 0}}, {123});
    // even the owner's
    reduce(3, {0}, {{0, 0, 1, 0}, {1, 1, 2, 0}, {2, 2, 0, 0}}, {123});
}

TEST_CASE("blocks that a rank only passes on lie in memory of papcoll's") {
    // Of ranks 0 … 2 each has a block; 1 gives its own and that of 2 to 0, and has no place for the latter.
    std::vector<transfer> const all{{0, 2, 1, 2}, {1, 1, 0, 1}, {1, 1, 0, 2}};
    for (auto const& windows : all_windows)
        for (std::size_t const piece : {0u, 1u, 3u})
            papcoll::threads::run(3, {.eager_limit = 0, .seed = 3}, [&](endpoint& self) {
                int const rank = self.rank();
                std::vector<papcoll::block_range> blocks{{0, 4}, {4, 4}, {8, 4}};
                if (rank > 0) blocks = {{0, 0}, {0, 4}, {0, 4}};
                auto kept =
                    papcoll::detail::compile_uncut(schedule_kind::dissemination, share_of(all, rank), blocks,
                                                   {rank == 0, rank == 1, rank == 2}, windows);
                kept.piece_elements = piece;
                kept.scratch = rank == 1 ? 4 : 0;
                std::vector<int> data(rank == 0 ? 12 : 4, rank);
                papcoll::copy_operation<endpoint, int> op(
                    papcoll::detail::attached_context(self),
                    papcoll::executable(std::make_shared<papcoll::message_program const>(std::move(kept))), 0,
                    data.data());
                execute(op);
                std::vector<int> expected(4, rank);
                if (rank == 0) expected = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2};
                CHECK(data == expected);
            });
}

TEST_CASE("what cannot be is found before or at the end, not waited for") {
    auto const lonely = [](std::vector<transfer> const& all) {
        papcoll::threads::run(1, [&](endpoint& self) {
            std::vector<long> in(4, 1), out(4);
            auto const program = std::make_shared<papcoll::message_program const>(papcoll::compile(
                schedule_kind::reduction, share_of(all, 0), {{0, 4}}, {true}, all_windows[4]));
            papcoll::combine_operation<endpoint, long, std::plus<>> op(
                papcoll::detail::attached_context(self), program, 0,
                papcoll::reduction_buffers<long>{in.data(), out.data(), 0}, std::plus<>());
            execute(op);
        });
    };
    CHECK_NOTHROW(lonely({}));
    CHECK_THROWS_AS(lonely({{0, 0, 1, 0}, {1, 0, 1, 0}}), std::logic_error); // given away, and again
}

TEST_CASE("both ends decide alike which messages are admitted, whatever the blocks' sizes") {
    std::mt19937 random(11);
    auto const at_most = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n + 1)); };
    for (int repetition = 0; repetition < 60; ++repetition) {
        int const ranks = 2 + at_most(5);
        int const each = 1 + at_most(4);
        std::vector<papcoll::block_range> blocks;
        std::vector<int> owners;
        std::size_t count = 0;
        for (int b = 0; b < ranks * each; ++b) {
            auto const size = static_cast<std::size_t>(at_most(9));
            blocks.push_back({count, size});
            owners.push_back(b / each);
            count += size;
        }
        std::vector<transfer> ring; // the parts go round, some of their blocks a few steps behind
        for (int b = 0; b < ranks * each; ++b)
            for (int s = 0; s + 1 < ranks; ++s) {
                int const from = (b / each + s) % ranks;
                ring.push_back({s + b % each % 2, from, (from + 1) % ranks, b});
            }
        message_windows windows;
        windows.receives = 1 + at_most(1);
        windows.tail_bytes = static_cast<std::size_t>(at_most(20));
        windows.longest_elements = static_cast<std::size_t>(at_most(12));
        windows.unadmitted_elements = static_cast<std::size_t>(at_most(9));
        windows.unadmitted = 1 + at_most(2);
        auto const piece = static_cast<std::size_t>(at_most(4));
        options const o{.eager_limit = static_cast<std::size_t>(at_most(1) * at_most(40)), .seed = random()};
        CAPTURE(repetition);
        papcoll::threads::run(ranks, o, [&](endpoint& self) {
            std::vector<int> data(count, -1), expected(count);
            std::vector<bool> owned;
            for (std::size_t b = 0; b < blocks.size(); ++b) {
                owned.push_back(owners[b] == self.rank());
                for (std::size_t i = blocks[b].offset; i < blocks[b].offset + blocks[b].size; ++i) {
                    expected[i] = static_cast<int>(100 * b + i);
                    if (owned[b]) data[i] = expected[i];
                }
            }
            auto const program = program_of(schedule_kind::dissemination, share_of(ring, self.rank()), blocks,
                                            owned, windows, piece);
            papcoll::copy_operation<endpoint, int> op(papcoll::detail::attached_context(self), program, 0,
                                                      data.data());
            execute(op);
            CHECK(data == expected);
        });
    }
}
