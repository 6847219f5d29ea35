// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/policy/knomial_tree.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cstddef>
#include <vector>

#include "../../support/program_lists.hpp"

using papcoll::call_shape;
using papcoll::collective_kind;
using papcoll::link_model;
using papcoll::memory;
using papcoll::program;
using papcoll::ticks;
using program_lists::action;
using program_lists::count;
using program_lists::elements;
using program_lists::lengths;

static_assert(papcoll::block_policy<papcoll::knomial_tree>);
static_assert(papcoll::knomial_tree::provides(collective_kind::gather));
static_assert(!papcoll::knomial_tree::provides(collective_kind::all_gather));

namespace {

link_model const slow{ticks(50'000), 84.0};

auto kept(int ranks, int root, int rank, std::size_t part) -> program {
    call_shape shape{.operation = collective_kind::gather, .ranks = ranks, .rank = rank, .root = root};
    shape.count = part * static_cast<std::size_t>(ranks);
    shape.element_bytes = 4;
    auto plan = papcoll::knomial_tree{.radix = 2}.plan(shape, slow);
    CHECK(plan.held_bytes() <= papcoll::plan_limit(ranks));
    return plan;
}
auto executed(int ranks, int root, std::size_t part) -> std::vector<program> {
    std::vector<program> programs;
    for (int rank = 0; rank < ranks; ++rank)
        programs.push_back(program_lists::executed(kept(ranks, root, rank, part)));
    return programs;
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
                    auto const& sender = programs[static_cast<std::size_t>(from)];
                    for (int to = 0; to < ranks; ++to)
                        CHECK(lengths(sender, action::send, to) ==
                              lengths(programs[static_cast<std::size_t>(to)], action::receive, from));
                    bool const is_root = from == root;
                    auto const gathered = elements(sender, action::receive);
                    CHECK(sender.scratch == (is_root ? 0 : gathered));
                    CHECK(elements(sender, action::send) == (is_root ? 0 : gathered + part));
                    if (is_root) CHECK(gathered == part * static_cast<std::size_t>(ranks - 1));
                    for (auto const& r : sender.regions)
                        if (!is_root) CHECK(r.end() <= (r.where() == memory::in ? part : sender.scratch));
                }
            }
}

TEST_CASE("short parts: the root has one message for each round") {
    for (int const ranks : {2, 3, 8, 9, 100, 1000})
        for (int const root : {0, ranks / 2}) {
            auto const p = kept(ranks, root, root, 2);
            CHECK(count(p, action::receive) ==
                  static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(ranks - 1))));
            CHECK(count(p, action::send) == 0);
        }
}

TEST_CASE("a root may keep its program uncut while leaves have cut theirs") {
    std::size_t const part = std::size_t(1) << 22;
    CHECK(kept(64, 0, 0, part).uncut);
    CHECK_FALSE(kept(64, 0, 1, part).uncut);
    CHECK(count(kept(64, 0, 1, part), action::send) > 100);
    auto const programs = executed(64, 0, part);
    CHECK(lengths(programs[0], action::receive, 1) == lengths(programs[1], action::send, 0));
    CHECK(lengths(programs[0], action::receive, 32) == lengths(programs[32], action::send, 0));
}
