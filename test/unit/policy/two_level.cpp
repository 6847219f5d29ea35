// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/policy/circulant.hpp>
#include <papcoll/policy/two_level.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "../../support/program_lists.hpp"

using papcoll::call_shape;
using papcoll::circulant;
using papcoll::collective_kind;
using papcoll::link_model;
using papcoll::ticks;
using papcoll::two_level;

static_assert(papcoll::block_policy<two_level>);
static_assert(two_level::provides(collective_kind::gather));

namespace {

link_model const wire{ticks(50'000), 84.0};

auto shape_of(collective_kind operation, int rank, std::vector<int> const& nodes, std::size_t count)
    -> call_shape {
    call_shape shape{.operation = operation, .ranks = static_cast<int>(nodes.size()), .rank = rank};
    shape.count = count;
    shape.element_bytes = 4;
    shape.nodes = nodes;
    return shape;
}

/// Elements that each node sends to others.
auto sent_by_nodes(auto const& policy, collective_kind operation, std::vector<int> const& nodes,
                   std::size_t count) -> std::map<int, std::size_t> {
    std::map<int, std::size_t> sent;
    for (std::size_t r = 0; r < nodes.size(); ++r) {
        auto const plan = policy.plan(shape_of(operation, static_cast<int>(r), nodes, count), wire);
        for (auto const& m : program_lists::messages(plan, program_lists::action::send))
            if (nodes[static_cast<std::size_t>(m.peer)] != nodes[r]) sent[nodes[r]] += m.elements;
    }
    return sent;
}
auto is_flat(two_level const& policy, call_shape const& shape) -> bool {
    auto const plan = policy.plan(shape, wire);
    auto const flat = circulant{.block_bytes = policy.block_bytes}.plan(shape, wire);
    return program_lists::are_same(plan, flat);
}
auto in_order(int nodes, int per_node) -> std::vector<int> {
    std::vector<int> of_rank;
    for (int r = 0; r < nodes * per_node; ++r) of_rank.push_back(r / per_node);
    return of_rank;
}

} // namespace

TEST_CASE("no node sends more than the operation needs") {
    std::size_t const count = 96'000;
    for (int const nodes : {2, 3, 8})
        for (int const per_node : {2, 4}) {
            auto const of_rank = in_order(nodes, per_node);
            CAPTURE(nodes);
            CAPTURE(per_node);
            auto const others = static_cast<std::size_t>(nodes - 1);
            std::size_t broadcast = 0;
            for (auto const& [node, elements] :
                 sent_by_nodes(two_level{}, collective_kind::broadcast, of_rank, count))
                broadcast += elements;
            CHECK(broadcast == others * count);
            auto const share = others * count / static_cast<std::size_t>(nodes);
            for (auto const kind : {collective_kind::all_gather, collective_kind::reduce_scatter})
                for (auto const& [node, elements] : sent_by_nodes(two_level{}, kind, of_rank, count))
                    CHECK(elements == share);
            for (auto const& [node, elements] :
                 sent_by_nodes(two_level{}, collective_kind::all_reduce, of_rank, count))
                CHECK(elements == 2 * share);
        }
}

TEST_CASE("where nodes share memory, as many ranks of each exchange shares as there are lanes") {
    std::size_t const count = 96'000;
    auto const nodes = in_order(3, 4);
    for (int const lanes : {1, 2, 4, 9})
        for (auto const kind :
             {collective_kind::broadcast, collective_kind::reduce, collective_kind::all_reduce}) {
            CAPTURE(lanes);
            std::map<int, std::size_t> active; // ranks of each node
            std::size_t between = 0;
            for (int r = 0; r < 12; ++r) {
                auto shape = shape_of(kind, r, nodes, count);
                shape.shared_bytes = std::size_t(256) << 10;
                shape.root = 5;
                auto const plan = two_level{.lanes = lanes}.plan(shape, wire);
                auto const sent = program_lists::messages(plan, program_lists::action::send);
                auto const received = program_lists::messages(plan, program_lists::action::receive);
                for (auto const& m : sent) {
                    CHECK(nodes[static_cast<std::size_t>(m.peer)] != r / 4);
                    between += m.elements;
                }
                active[r / 4] += sent.empty() && received.empty() ? 0 : 1;
            }
            CHECK(between == (kind == collective_kind::all_reduce ? 4 : 2) * count);
            for (auto const& [node, ranks] : active)
                CHECK(ranks == static_cast<std::size_t>(lanes < 4 ? lanes : 4));
        }
}

TEST_CASE("lanes do not make programs of long data too large") {
    auto const nodes = in_order(2, 16);
    for (int const lanes : {2, 4, 16})
        for (std::size_t const count : {1'000'000U, 5'000'000U, 19'000'000U}) {
            CAPTURE(lanes);
            CAPTURE(count);
            auto shape = shape_of(collective_kind::all_reduce, 17, nodes, count);
            shape.shared_bytes = std::size_t(256) << 10;
            auto const plan = two_level{.lanes = lanes}.plan(shape, wire);
            auto const written = plan.written_by ? plan.written_by->write() : plan;
            CHECK(written.held_bytes() <= std::size_t(12) << 20);
        }
}

TEST_CASE("flat where nodes are uneven, have one rank, or are one, and of short operands") {
    for (auto const& nodes :
         {std::vector<int>{0, 0, 0, 1, 1}, std::vector<int>{0, 1, 2, 3}, std::vector<int>{5, 5, 5}})
        for (auto const kind : {collective_kind::broadcast, collective_kind::reduce,
                                collective_kind::all_gather, collective_kind::all_reduce})
            CHECK(is_flat({}, shape_of(kind, 1, nodes, 60'000)));
    auto const four = in_order(2, 2);
    CHECK_FALSE(is_flat({}, shape_of(collective_kind::all_reduce, 1, four, 600'000)));
    CHECK(is_flat({}, shape_of(collective_kind::all_reduce, 1, four, 1)));
    // what the user says counts
    CHECK(is_flat({.ranks_per_node = 1, .lanes = {}, .block_bytes = {}},
                  shape_of(collective_kind::broadcast, 0, four, 60'000)));
    CHECK(is_flat({.ranks_per_node = 3, .lanes = {}, .block_bytes = {}},
                  shape_of(collective_kind::broadcast, 0, four, 60'000)));
    CHECK_FALSE(is_flat({.ranks_per_node = 2, .lanes = {}, .block_bytes = {}},
                        shape_of(collective_kind::broadcast, 0, in_order(1, 4), 60'000)));
}

TEST_CASE("parts of very uneven sizes are gathered as circulant does") {
    auto const nodes = in_order(4, 2);
    std::vector<std::size_t> sizes(8, 0);
    sizes[3] = 500'000;
    auto shape = shape_of(collective_kind::all_gather, 2, nodes, 500'000);
    shape.sizes = sizes;
    CHECK(is_flat({}, shape));
    std::vector<std::size_t> const alike{9'000, 10'000, 9'500, 9'000, 10'000, 9'500, 9'000, 10'000};
    shape.sizes = alike;
    shape.count = 76'000;
    CHECK_FALSE(is_flat({}, shape));
}

TEST_CASE("blocks of all lanes together are as many at most as those of one") {
    auto const nodes = in_order(2, 4);
    for (int const lanes : {1, 2, 4}) {
        two_level const policy{.ranks_per_node = {}, .lanes = lanes, .block_bytes = 4};
        // The first rank of the other node receives the blocks of one lane.
        auto const plan = policy.plan(shape_of(collective_kind::broadcast, 4, nodes, 5'000'000), wire);
        std::size_t blocks = 0;
        for (auto const& m : program_lists::messages(plan, program_lists::action::receive))
            if (nodes[static_cast<std::size_t>(m.peer)] == 0) ++blocks;
        CHECK(blocks * static_cast<std::size_t>(lanes) == std::size_t(1) << 20);
    }
}
