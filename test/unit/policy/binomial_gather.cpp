// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/policy/binomial_gather.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

using papcoll::call_shape;
using papcoll::collective_kind;
using papcoll::link_model;
using papcoll::message_program;
using papcoll::ticks;

static_assert(papcoll::block_policy<papcoll::binomial_gather>);
static_assert(papcoll::binomial_gather::provides(collective_kind::gather));
static_assert(!papcoll::binomial_gather::provides(collective_kind::all_gather));

namespace {

link_model const slow{ticks(50'000), 84.0};

auto kept(int ranks, int root, int rank, std::size_t part) -> std::shared_ptr<message_program const> {
    call_shape shape{.operation = collective_kind::gather, .ranks = ranks, .rank = rank, .root = root};
    shape.count = part * static_cast<std::size_t>(ranks);
    shape.element_bytes = 4;
    auto plan = papcoll::binomial_gather{}.plan(shape, slow);
    REQUIRE(plan.stages.size() == 1);
    CHECK(plan.held_bytes() <= papcoll::plan_limit(ranks));
    return std::make_shared<message_program const>(std::move(plan.stages[0].program));
}
auto executed(int ranks, int root, std::size_t part) -> std::vector<std::shared_ptr<message_program const>> {
    std::vector<std::shared_ptr<message_program const>> programs;
    for (int rank = 0; rank < ranks; ++rank)
        programs.push_back(papcoll::executable(kept(ranks, root, rank, part)));
    return programs;
}
auto lengths(message_program::side const& side, int peer) -> std::vector<std::size_t> {
    std::vector<std::size_t> result;
    for (auto const& m : side.messages)
        if (m.peer == peer) result.push_back(m.elements);
    return result;
}
auto elements_of(message_program::side const& side) -> std::size_t {
    std::size_t sum = 0;
    for (auto const& m : side.messages) sum += m.elements;
    return sum;
}

} // namespace

TEST_CASE("both ends of a message cut it alike, and what is passed on has room") {
    for (int ranks = 1; ranks <= 20; ++ranks)
        for (int const root : {0, 1, ranks - 1})
            for (std::size_t const part : {0u, 1u, 7u, 100'000u, 5'000'000u}) {
                if (root >= ranks) continue;
                CAPTURE(ranks);
                CAPTURE(root);
                CAPTURE(part);
                auto const programs = executed(ranks, root, part);
                for (int from = 0; from < ranks; ++from) {
                    auto const& sender = *programs[static_cast<std::size_t>(from)];
                    for (int to = 0; to < ranks; ++to)
                        CHECK(lengths(sender.sends, to) ==
                              lengths(programs[static_cast<std::size_t>(to)]->receives, from));
                    bool const is_root = from == root;
                    auto const gathered = elements_of(sender.receives);
                    CHECK(sender.scratch == (is_root ? 0 : gathered));
                    CHECK(elements_of(sender.sends) == (is_root ? 0 : gathered + part));
                    if (is_root) CHECK(gathered == part * static_cast<std::size_t>(ranks - 1));
                    for (std::size_t b = 0; b < sender.blocks.size() && !is_root; ++b)
                        CHECK(sender.blocks[b].offset + sender.blocks[b].size <=
                              (sender.owned[b] ? part : sender.scratch));
                }
            }
}

TEST_CASE("short parts: the root has one message for each round") {
    for (int const ranks : {2, 3, 8, 9, 100, 1000})
        for (int const root : {0, ranks / 2}) {
            auto const program = kept(ranks, root, root, 2);
            CHECK(program->receives.messages.size() ==
                  static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(ranks - 1))));
            CHECK(program->sends.messages.empty());
        }
}

TEST_CASE("a root may keep its program uncut while leaves have cut theirs") {
    std::size_t const part = std::size_t(1) << 22;
    CHECK(kept(64, 0, 0, part)->piece_elements > 0);
    CHECK(kept(64, 0, 1, part)->piece_elements == 0);
    CHECK(kept(64, 0, 1, part)->sends.messages.size() > 100);
    auto const programs = executed(64, 0, part);
    CHECK(lengths(programs[0]->receives, 1) == lengths(programs[1]->sends, 0));
    CHECK(lengths(programs[0]->receives, 32) == lengths(programs[32]->sends, 0));
}
