// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/policy/arrival_all_reduce.hpp>
#include <papcoll/policy/circulant.hpp>
#include <papcoll/policy/policy.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <vector>

#include "../../support/program_lists.hpp"

using papcoll::arrival_all_reduce;
using papcoll::call_shape;
using papcoll::link_model;
using papcoll::ticks;
using program_lists::action;

namespace {

link_model const wire{ticks(50'000), 84.0};

auto shape_of(int ranks, int rank, std::size_t count) -> call_shape {
    call_shape shape{
        .operation = papcoll::collective_kind::all_reduce, .ranks = ranks, .rank = rank, .root = 0};
    shape.count = count;
    shape.element_bytes = 4;
    return shape;
}
auto one_late(int ranks, ticks by) -> std::vector<ticks> {
    std::vector<ticks> arrivals(static_cast<std::size_t>(ranks));
    arrivals.back() = by;
    return arrivals;
}

} // namespace

TEST_CASE("it is a policy of all_reduce alone, whose operators commute") {
    CHECK(papcoll::block_policy<arrival_all_reduce>);
    CHECK(arrival_all_reduce::reorders_operands);
    using kind = papcoll::collective_kind;
    for (auto const other : {kind::broadcast, kind::reduce, kind::all_gather, kind::reduce_scatter})
        CHECK_FALSE(arrival_all_reduce::provides(other));
    CHECK(arrival_all_reduce::provides(kind::all_reduce));
}

TEST_CASE("one rank late: results spread while the rest is reduced; else what circulant does") {
    std::vector<ticks> const late = one_late(8, std::chrono::seconds(2));
    std::size_t const mega = std::size_t(1) << 20;
    auto const is_circulant = [](arrival_all_reduce const& policy, std::size_t count) {
        bool same = true;
        for (int rank = 0; rank < 8; ++rank) {
            auto const shape = shape_of(8, rank, count);
            same = same &&
                   program_lists::are_same(policy.plan(shape, wire), papcoll::circulant{}.plan(shape, wire));
            CHECK(policy.aware(shape, wire) == policy.aware(shape_of(8, 0, count), wire));
        }
        return same;
    };
    CHECK_FALSE(is_circulant({.arrivals = late}, mega));
    CHECK(is_circulant({.arrivals = one_late(8, ticks(0))}, mega));
    CHECK(is_circulant({}, mega));
    CHECK(is_circulant({.arrivals = late}, 4));
    CHECK(is_circulant({.arrivals = late}, 0));
    // The last rank has the first block of the result before its last operand is on its way.
    auto const plan = arrival_all_reduce{.arrivals = late}.plan(shape_of(8, 7, mega), wire);
    papcoll::program::index first_receive = 0, last_send = 0;
    for (papcoll::program::index i = plan.size(); i-- > 0;)
        if (plan.instructions[i].what == action::receive) first_receive = i;
    for (papcoll::program::index i = 0; i < plan.size(); ++i)
        if (plan.instructions[i].what == action::send) last_send = i;
    CHECK(first_receive < last_send);
}

TEST_CASE("the last rank sends each block once and receives each once, n blocks of the chosen size") {
    auto const late = one_late(8, std::chrono::seconds(2));
    arrival_all_reduce const policy{.arrivals = late, .block_bytes = 1 << 14};
    auto const shape = shape_of(8, 7, std::size_t(1) << 20);
    CHECK(policy.blocks(shape, wire) == 256);
    auto const plan = policy.plan(shape, wire);
    for (auto const what : {action::send, action::receive}) {
        CHECK(program_lists::count(plan, what) == 256);
        CHECK(program_lists::elements(plan, what) == shape.count);
    }
    CHECK(program_lists::count(plan, action::combine) == 0);
    // n = √(q·β·m/α) for q = 3.
    int const n = arrival_all_reduce{.arrivals = late}.blocks(shape, wire);
    CHECK(n == 145);
    CHECK(arrival_all_reduce{}.blocks(shape_of(8, 0, 3), {ticks(1), 1e6}) == 3);
    CHECK(arrival_all_reduce{}.blocks(shape_of(8, 0, 0), wire) == 1);
}

TEST_CASE("fingerprints tell policies apart") {
    auto const key = [](arrival_all_reduce const& policy) { return policy.fingerprint().value(); };
    CHECK(key({}) == key({}));
    CHECK(key({}) != key({.block_bytes = 5}));
    CHECK(key({}) != key({.arrivals = std::vector<ticks>{}}));
    CHECK(key({.arrivals = one_late(3, ticks(1))}) != key({.arrivals = one_late(3, ticks(2))}));
    CHECK(key({.arrivals = one_late(3, ticks(1))}) == key({.arrivals = one_late(3, ticks(1))}));
}
