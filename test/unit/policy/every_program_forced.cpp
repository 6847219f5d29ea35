// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/policy/scheduled.hpp>
#include <papcoll/scheduler/circulant.hpp>
#include <papcoll/scheduler/circulant_all_gather.hpp>
#include <papcoll/scheduler/greedy_tree.hpp>
#include <papcoll/scheduler/reversed.hpp>
#include <papcoll/scheduler/ring.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <optional>

#include "support/every_program.hpp"

// What policies do when they are told how, and at many ranks.
namespace {

using every_program::mixer;
using papcoll::collective_kind;
using program_calls::call;

auto call_of(collective_kind operation, int ranks, std::size_t count, mixer& mix) -> call {
    call c;
    c.shape.operation = operation;
    c.shape.ranks = ranks;
    if (every_program::has_root(operation))
        c.shape.root = static_cast<int>(mix.below(static_cast<std::size_t>(ranks)));
    every_program::fill(c, mix, count);
    return c;
}

/// `has_owners`: whether the blocks may belong to several ranks.
template <class Policy>
void verify_some(Policy const& policy, mixer& mix, bool has_owners = true) {
    constexpr collective_kind kinds[] = {
        collective_kind::broadcast,  collective_kind::reduce,     collective_kind::all_reduce,
        collective_kind::gather,     collective_kind::all_gather, collective_kind::reduce_scatter,
        collective_kind::all_to_all, collective_kind::scatter,    collective_kind::scan,
        collective_kind::exscan,     collective_kind::barrier};
    for (auto const operation : kinds) {
        if (operation == collective_kind::reduce_scatter && !has_owners) continue;
        for (int ranks = 1; ranks <= 33 && policy.provides(operation); ++ranks)
            for (std::size_t const count : {std::size_t(3), std::size_t(60), std::size_t(2'000)})
                every_program::verify_call(policy, call_of(operation, ranks, count, mix), mix);
    }
}

} // namespace

TEST_CASE("blocks of a size that is asked for") {
    mixer mix(1);
    for (std::size_t const bytes : {1U, 8U, 100U, 1'000'000U}) {
        verify_some(papcoll::circulant{.block_bytes = bytes * 8}, mix);
        verify_some(papcoll::two_level{.ranks_per_node = 1 + static_cast<int>(mix.below(5)),
                                       .lanes = 1 + static_cast<int>(mix.below(4)),
                                       .block_bytes = bytes * 8},
                    mix);
        verify_some(papcoll::arrival_all_reduce{.block_bytes = bytes * 8}, mix);
    }
}

TEST_CASE("segments that are asked for") {
    mixer mix(2);
    for (int const segments : {1, 2, 7, 40}) {
        verify_some(papcoll::basic_clairvoyant<papcoll::simd_bitset<>>{.segments = segments}, mix);
        verify_some(papcoll::greedy_tree{.compute_per_element = 1000, .segments = segments}, mix);
        verify_some(papcoll::greedy_tree{.max_transfers = 1 + segments % 3}, mix);
        verify_some(papcoll::greedy_tree{.max_reducers = 2, .segments = segments}, mix);
        verify_some(papcoll::scheduled<papcoll::circulant_scheduler>{.segments = segments}, mix);
        verify_some(
            papcoll::scheduled<papcoll::reversed_scheduler<papcoll::circulant_scheduler>>{.segments =
                                                                                              segments},
            mix);
        verify_some(papcoll::scheduled<papcoll::greedy_tree_scheduler>{.segments = segments}, mix, false);
        verify_some(papcoll::scheduled<papcoll::ring_scheduler>{.segments = segments}, mix);
    }
}

TEST_CASE("other ways of asking and exchanging") {
    mixer mix(3);
    for (std::size_t const bytes : {1U, 64U, 1'000'000U})
        verify_some(papcoll::sorted_linear{.first_bytes = bytes}, mix);
    for (int const window : {1, 2, 64}) verify_some(papcoll::all_to_all_linear_sync{.window = window}, mix);
    for (int const radix : {2, 3, 4, 64}) {
        verify_some(papcoll::dissemination{.radix = radix}, mix);
        verify_some(papcoll::knomial_tree{.radix = radix}, mix);
        verify_some(papcoll::knomial_tree{.radix = radix, .segments = 3}, mix);
    }
    verify_some(papcoll::bine_tree{.segments = 3}, mix);
    for (std::size_t const bytes : {1U, 64U, 1'000'000U}) verify_some(papcoll::prefix_chain{bytes}, mix);
}

TEST_CASE("many ranks") {
    mixer mix(4);
    auto const verify = [&](auto const& policy, collective_kind operation, int ranks, std::size_t count) {
        auto c = call_of(operation, ranks, count, mix);
        c.sizes.clear();
        c.apart = false;
        c.shape.count = count;
        every_program::verify_call(policy, c, mix);
    };
    for (int const ranks : {64, 100, 257})
        for (auto const operation :
             {collective_kind::reduce, collective_kind::all_reduce, collective_kind::broadcast})
            every_program::each_policy(operation, [&](auto const& policy) {
                for (std::size_t const count : {std::size_t(10), std::size_t(100'000)})
                    verify(policy, operation, ranks, count);
            });
    for (int const ranks : {64, 100})
        for (auto const operation :
             {collective_kind::gather, collective_kind::all_gather, collective_kind::all_to_all})
            every_program::each_policy(operation, [&](auto const& policy) {
                verify(policy, operation, ranks, static_cast<std::size_t>(ranks) * 3);
            });
    int const ranks = 1000;
    for (auto const operation : {collective_kind::reduce, collective_kind::broadcast}) {
        verify(papcoll::circulant{}, operation, ranks, 1'000'000);
        verify(papcoll::two_level{.ranks_per_node = 8}, operation, ranks, 1'000'000);
        verify(papcoll::binomial_tree{}, operation, ranks, 1'000'000);
        verify(papcoll::bine_tree{}, operation, ranks, 1'000'000);
        verify(papcoll::greedy_tree{}, operation, ranks, 1'000'000);
    }
    verify(papcoll::circulant{}, collective_kind::all_reduce, ranks, 8);
    verify(papcoll::arrival_tree{}, collective_kind::all_reduce, ranks, 8);
    verify(papcoll::linear{}, collective_kind::gather, ranks, 8 * static_cast<std::size_t>(ranks));
    verify(papcoll::knomial_tree{}, collective_kind::gather, ranks, 8 * static_cast<std::size_t>(ranks));
    verify(papcoll::sorted_linear{}, collective_kind::gather, ranks, 8 * static_cast<std::size_t>(ranks));
}
