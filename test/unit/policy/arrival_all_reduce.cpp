// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/policy/arrival_all_reduce.hpp>
#include <papcoll/policy/policy.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <vector>

using papcoll::arrival_all_reduce;
using papcoll::call_shape;
using papcoll::link_model;
using papcoll::ticks;
using work = papcoll::execution_stage::work;

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

TEST_CASE("one rank late: one stage of both halves; together, unknown or short: what circulant does") {
    auto const stages = [](arrival_all_reduce const& policy, std::size_t count) {
        std::vector<work> result;
        for (int rank = 0; rank < 8; ++rank) {
            auto const plan = policy.plan(shape_of(8, rank, count), wire);
            std::vector<work> mine;
            for (auto const& stage : plan.stages) mine.push_back(stage.what);
            CHECK((rank == 0 || mine == result));
            result = mine;
        }
        return result;
    };
    using list = std::vector<work>;
    std::vector<ticks> const late = one_late(8, std::chrono::seconds(2));
    std::size_t const mega = std::size_t(1) << 20;
    CHECK(stages({.arrivals = late}, mega) == list{work::reduce_spread});
    CHECK(stages({.arrivals = one_late(8, ticks(0))}, mega) == list{work::reduce, work::disseminate});
    CHECK(stages({}, mega) == list{work::reduce, work::disseminate});
    CHECK(stages({.arrivals = late}, 4) == list{work::butterfly});
    CHECK(stages({.arrivals = late}, 0) == stages({}, 0));
}

TEST_CASE("the last rank sends each block once and receives each once, n blocks of the chosen size") {
    auto const late = one_late(8, std::chrono::seconds(2));
    arrival_all_reduce const policy{.arrivals = late, .block_bytes = 1 << 16};
    auto const shape = shape_of(8, 7, std::size_t(1) << 20);
    CHECK(policy.blocks(shape, wire) == 64);
    auto const program = policy.plan(shape, wire).stages.at(0).program;
    CHECK(program.sends.messages.size() == 64);
    CHECK(program.receives.messages.size() == 64);
    for (int b = 0; b < 64; ++b) CHECK_FALSE(program.is_owned(b));
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
