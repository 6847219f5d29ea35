// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/analysis/simulate.hpp>
#include <papcoll/context/node_memory.hpp>
#include <papcoll/policy/shared_memory.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "../../support/sanitized.hpp"
#include "support/every_program.hpp"

using every_program::mixer;
using papcoll::collective_kind;
using program_calls::call;

namespace {

constexpr std::array kinds{
    collective_kind::broadcast,  collective_kind::reduce,     collective_kind::all_reduce,
    collective_kind::gather,     collective_kind::all_gather, collective_kind::reduce_scatter,
    collective_kind::all_to_all, collective_kind::scatter,    collective_kind::scan,
    collective_kind::exscan,     collective_kind::barrier};

auto call_of(collective_kind operation, int ranks, int root, std::size_t count, std::size_t shared,
             mixer& mix) -> call {
    call c;
    c.shape.operation = operation;
    c.shape.ranks = ranks;
    c.shape.root = root;
    every_program::fill(c, mix, count);
    constexpr std::array<std::size_t, 4> sizes{1, 8, 24, 4};
    c.shape.element_bytes = sizes[mix.below(4)];
    c.shape.commutative = mix.coin();
    c.shape.any_order = c.shape.commutative && mix.coin();
    c.shape.shared_bytes = shared;
    c.late = call::which::none;
    c.nodes.assign(static_cast<std::size_t>(ranks), 0);
    return c;
}
void verify(call const& c) {
    if (!papcoll::shared_memory::serves(c.shape) && c.shape.ranks > 1) {
        bool served = false;
        c.each_shape([&](auto const& mine) { served = papcoll::shared_memory::serves(mine); });
        if (!served) return;
    }
    std::string wrong;
    try {
        wrong = violation_of(papcoll::shared_memory{}, c, program_calls::fast).value_or("");
    } catch (std::exception const& e) {
        wrong = c.text() + ": " + e.what();
    }
    CHECK_MESSAGE(wrong.empty(), wrong);
}

/// So many nodes of one to five ranks, which are numbered in any order.
auto nodes_of_sizes(int nodes, mixer& mix) -> std::vector<int> {
    std::vector<int> of_rank;
    for (int node = 0; node < nodes; ++node) of_rank.insert(of_rank.end(), 1 + mix.below(5), node);
    for (std::size_t r = of_rank.size(); mix.below(4) > 0 && r > 1; --r)
        std::swap(of_rank[r - 1], of_rank[mix.below(r)]);
    return of_rank;
}
void verify_two_levels(papcoll::two_level const& policy, call c, mixer& mix) {
    std::string wrong;
    try {
        wrong = violation_of(policy, c, mix.coin() ? program_calls::fast : program_calls::slow).value_or("");
    } catch (std::exception const& e) {
        wrong = c.text() + ": " + e.what();
    }
    CHECK_MESSAGE(wrong.empty(), wrong);
}
/// By one rank of each node, and of what goes in lanes by several.
void verify_two_levels(call c, mixer& mix) {
    auto const what = c.shape.operation;
    if (!papcoll::detail::is_prefix(what)) c.shape.commutative = true;
    verify_two_levels(papcoll::two_level{}, c, mix);
    if (what == collective_kind::broadcast || what == collective_kind::reduce ||
        what == collective_kind::all_reduce)
        verify_two_levels(papcoll::two_level{.lanes = 2 + static_cast<int>(mix.below(4))}, std::move(c), mix);
}

} // namespace

TEST_CASE("collectives through shared memory keep their promise") {
    mixer mix(7);
    for (auto const operation : kinds)
        for (int ranks = 1; ranks <= test_support::at_most(13, 5); ++ranks)
            for (int const root : every_program::roots(operation, ranks))
                for (auto const count : every_program::counts(ranks))
                    for (std::size_t const shared : {std::size_t(8) << 10, std::size_t(256) << 10})
                        if (count <= (shared > 10'000 ? 200'000u : 3'000u))
                            verify(call_of(operation, ranks, root, count, shared, mix));
}

TEST_CASE("so do those of plans with buffers of their own") {
    mixer mix(11);
    for (auto const operation : {collective_kind::all_reduce, collective_kind::all_gather,
                                 collective_kind::reduce_scatter, collective_kind::all_to_all})
        for (int const ranks : {2, 3, 4, 5, 8, 13})
            for (std::size_t const count : {20u, 700u, 40'000u}) {
                auto c = call_of(operation, ranks, 0, count, std::size_t(8) << 10, mix);
                c.shape.own_buffers = true;
                c.in_place = call::which::none;
                verify(c);
            }
}

TEST_CASE("two levels, of which one is memory, keep their promise") {
    mixer mix(9);
    for (auto const operation : kinds)
        for (int ranks = 2; ranks <= test_support::at_most(13, 6) && papcoll::two_level::provides(operation);
             ++ranks)
            for (int const root : every_program::roots(operation, ranks))
                for (std::size_t const count : {0u, 1u, 7u, 400u, 9'000u}) {
                    // The last two go in many rounds.
                    auto const n = operation == collective_kind::all_to_all ? count / 30 : count;
                    auto c = call_of(operation, ranks, root, n, std::size_t(8) << 10, mix);
                    // In a row, in turn, or as it comes; some have a node of their own.
                    int const nodes = 2 + static_cast<int>(mix.below(7));
                    auto const way = mix.below(3);
                    for (int r = 0; r < ranks; ++r) {
                        auto const any = static_cast<int>(mix.below(static_cast<std::size_t>(nodes)));
                        c.nodes[static_cast<std::size_t>(r)] = way == 0   ? r * nodes / ranks
                                                               : way == 1 ? r % nodes
                                                                          : any;
                    }
                    verify_two_levels(std::move(c), mix);
                }
}

TEST_CASE("two levels on all nodes of one to five ranks, two to nine of them, in any order") {
    mixer mix(10);
    for (auto const operation : kinds)
        for (int layout = 0; layout < test_support::at_most(60, 6) && papcoll::two_level::provides(operation);
             ++layout) {
            auto const nodes = nodes_of_sizes(2 + layout % 8, mix);
            auto const ranks = static_cast<int>(nodes.size());
            auto const p = nodes.size();
            for (int const root : every_program::roots(operation, ranks))
                for (std::size_t const count :
                     {std::size_t(0), std::size_t(1), p - 1, p + 1, std::size_t(90)})
                    for (std::size_t const shared : {std::size_t(8) << 10, std::size_t(256) << 10}) {
                        if (root % 4 != layout % 4 && count > 1) continue;
                        auto c = call_of(operation, ranks, root, count, shared, mix);
                        c.nodes = nodes;
                        verify_two_levels(std::move(c), mix);
                    }
        }
}

TEST_CASE("many ranks on a node") {
    mixer mix(8);
    for (auto const operation : kinds)
        for (int const ranks : test_support::sanitized ? std::vector{17} : std::vector{16, 17, 33})
            for (std::size_t const count :
                 {std::size_t(0), std::size_t(1), std::size_t(33), std::size_t(9'000)})
                verify(call_of(operation, ranks, ranks / 3, count, std::size_t(64) << 10, mix));
}

TEST_CASE("a short scatter goes by its root's stretch of the memory, the shortest beside its signs") {
    constexpr std::size_t element_bytes = 8;
    constexpr int ranks = 3, root = 1;
    struct use {
        bool beside_signs, root_alone;
    };
    auto const use_of = [&](std::size_t count) {
        call c;
        c.shape.operation = collective_kind::scatter;
        c.shape.ranks = ranks;
        c.shape.root = root;
        c.shape.count = count;
        c.shape.element_bytes = element_bytes;
        c.shape.shared_bytes = std::size_t(1) << 18;
        c.nodes.assign(ranks, 0);
        use seen{true, true};
        c.each_shape([&](papcoll::call_shape const& mine) {
            auto const p = papcoll::shared_memory{}.plan(mine, {});
            seen.beside_signs = seen.beside_signs && p.beside_signs;
            for (papcoll::program::index i = 0; i < p.size(); ++i) {
                if (p.instructions[i].what != papcoll::program::action::copy) continue;
                for (auto const& r : p.regions_of(i))
                    if (r.where() == papcoll::memory::node)
                        seen.root_alone = seen.root_alone && r.offset() >= p.node / ranks * root &&
                                          r.end() <= p.node / ranks * (root + 1);
            }
        });
        return seen;
    };
    for (std::size_t const count : {3u, 6u}) { // 48 bytes at most
        CHECK(use_of(count).beside_signs);
        CHECK(use_of(count).root_alone);
    }
    for (std::size_t const count : {7u, 100u, 500u}) {
        CHECK_FALSE(use_of(count).beside_signs);
        CHECK(use_of(count).root_alone);
    }
    CHECK_FALSE(use_of(3'000).root_alone);
}

TEST_CASE("early ranks of a reduce or a gather leave as long as there is room") {
    using papcoll::ticks;
    constexpr std::size_t room = papcoll::detail::node_memory::long_bytes(std::size_t(256) << 10) / 8;
    papcoll::cost_model const model{.compute_per_byte = 1.0};
    for (auto const operation : {collective_kind::reduce, collective_kind::gather})
        for (int const ranks : {3, 5, 8})
            for (std::size_t const each : {std::size_t(600), room / 2 + 3, room}) {
                auto const n =
                    operation == collective_kind::gather ? each * static_cast<std::size_t>(ranks) : each;
                call c;
                c.shape = {.operation = operation, .ranks = ranks, .root = 1, .count = n, .element_bytes = 8};
                c.shape.shared_bytes = std::size_t(256) << 10;
                c.nodes.assign(static_cast<std::size_t>(ranks), 0);
                std::vector<papcoll::program> programs;
                c.each_shape([&](auto const& mine) {
                    programs.push_back(papcoll::shared_memory{}.plan(mine, program_calls::fast));
                });
                std::vector<ticks> arrivals;
                for (int r = 0; r < ranks; ++r) arrivals.emplace_back(r == 1 ? 0 : 50'000'000 * (r + 1));
                auto const exits = papcoll::simulate(programs, arrivals, model, 8);
                for (std::size_t r = 0; r < exits.size(); ++r)
                    if (r != 1) CHECK(exits[r] == arrivals[r]);
                // The root has combined what the others gave when the last one comes.
                auto const left = operation == collective_kind::reduce ? 8 * static_cast<int>(each) : 0;
                CHECK(exits[1] - arrivals.back() == ticks{left});
            }
}
