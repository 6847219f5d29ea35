// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/collective/impl/run_call.hpp>
#include <papcoll/policy/circulant.hpp>
#include <papcoll/policy/circulant_choice.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <vector>

#include "../../support/program_lists.hpp"

using papcoll::call_shape;
using papcoll::circulant;
using papcoll::collective_kind;
using papcoll::link_model;
using papcoll::ticks;
using papcoll::detail::all_reduce_way;
using papcoll::detail::choose_circulant_all_reduce;
using program_lists::action;

namespace {

constexpr auto huge = std::numeric_limits<std::size_t>::max();

auto shape_of(collective_kind operation, int ranks, int rank, std::size_t count, std::size_t bytes = 8)
    -> call_shape {
    call_shape shape{.operation = operation, .ranks = ranks, .rank = rank};
    shape.count = count;
    shape.element_bytes = bytes;
    return shape;
}
auto rounds(int ranks) -> int { return static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1))); }

std::array<link_model, 4> const links = {{
    {ticks(50'000), 84.0}, // 100 Mbit/s
    {ticks(1'500), 0.08},  // a cluster
    {ticks(300), 0.0},     // bytes cost nothing
    {ticks(0), 1.0},       // messages cost nothing
}};

/// The time of n blocks by the theorem, in nanoseconds; a message costs the processor something, too.
auto time_of(double n, int ranks, std::size_t bytes, link_model const& link) -> double {
    double const volume = static_cast<double>(bytes) * link.per_byte;
    double const latency = static_cast<double>(link.latency.count()) + papcoll::detail::message_cost(link);
    return (n - 1 + rounds(ranks)) * (latency + volume / n);
}

} // namespace

TEST_CASE("the number of blocks is that of the shortest time") {
    for (int const ranks : {2, 3, 5, 8, 13, 100, 1000})
        for (std::size_t const count : {1u, 100u, 5'000u, 131'072u, 4'000'000u})
            for (auto const& link : {links[0], links[1]}) {
                CAPTURE(ranks);
                CAPTURE(count);
                auto const shape = shape_of(collective_kind::broadcast, ranks, 0, count);
                int const n = circulant{}.blocks(shape, link);
                double best = time_of(1, ranks, shape.bytes(), link);
                auto const most = static_cast<int>(shape.count);
                CHECK(n <= std::max(most, 1));
                for (int k = 2; k <= 20'000 && k <= most; ++k)
                    best = std::min(best, time_of(k, ranks, shape.bytes(), link));
                // Rounded down to a whole number of blocks: of few blocks that may cost a tenth.
                CHECK(time_of(n, ranks, shape.bytes(), link) <= best * (n < 10 ? 1.12 : 1.005));
            }
}

TEST_CASE("all ranks choose the same number of blocks, whatever the shape, and one they can have") {
    for (int const ranks : {1, 2, 3, 7, 16, 33})
        for (auto const operation : {collective_kind::broadcast, collective_kind::reduce,
                                     collective_kind::all_gather, collective_kind::reduce_scatter})
            for (auto const& link : links)
                for (std::size_t const count :
                     {std::size_t(0), std::size_t(1), std::size_t(50), std::size_t(1) << 22, huge / 8})
                    for (auto const bytes : {0u, 1u, 100u, 4096u}) {
                        circulant const policy{.block_bytes =
                                                   bytes == 0 ? std::optional<std::size_t>() : bytes};
                        auto const shape = shape_of(operation, ranks, 0, count);
                        int const n = policy.blocks(shape, link);
                        CHECK(n >= 1);
                        CHECK(static_cast<std::size_t>(n) <= std::max<std::size_t>(count, 1));
                        CHECK(n <= 1 << 20);
                        bool same = true;
                        for (int rank = 1; rank < ranks; ++rank)
                            same = same && policy.blocks(shape_of(operation, ranks, rank, count), link) == n;
                        CHECK(same);
                    }
}

TEST_CASE("blocks of a given size") {
    auto const blocks = [](std::size_t block_bytes, std::size_t count, collective_kind operation) {
        return circulant{.block_bytes = block_bytes}.blocks(shape_of(operation, 4, 0, count), links[0]);
    };
    CHECK(blocks(80, 100, collective_kind::broadcast) == 10);
    CHECK(blocks(80, 101, collective_kind::reduce) == 11);
    CHECK(blocks(87, 101, collective_kind::reduce) == 11); // whole elements
    CHECK(blocks(1, 100, collective_kind::broadcast) == 100);
    CHECK(blocks(10'000, 100, collective_kind::broadcast) == 1);
    CHECK(blocks(80, 0, collective_kind::broadcast) == 1);
    CHECK(blocks(80, 100, collective_kind::all_gather) == 3); // of each rank's 25 elements
    CHECK(blocks(huge, 100, collective_kind::broadcast) == 1);
    CHECK_THROWS_AS(circulant{.block_bytes = 0}.check({}), std::invalid_argument);
    CHECK_NOTHROW(circulant{}.check({}));
    CHECK(circulant{}.fingerprint() != circulant{.block_bytes = 8}.fingerprint());
    CHECK(circulant{.block_bytes = 8}.fingerprint() == circulant{.block_bytes = 8}.fingerprint());
}

TEST_CASE("uneven parts go in blocks where that is shorter, even ones never") {
    auto const blocks = [](std::vector<std::size_t> const& sizes, link_model const& link) {
        auto shape = shape_of(collective_kind::all_gather, static_cast<int>(sizes.size()), 0, 0);
        for (auto const n : sizes) shape.count += n;
        shape.sizes = sizes;
        return circulant{}.blocks(shape, link);
    };
    std::vector<std::size_t> const even(16, 10'000);
    std::vector<std::size_t> one(16);
    one[7] = 160'000;
    CHECK(blocks(even, links[1]) == 1);
    CHECK(blocks(one, links[1]) > 1); // else it would be a broadcast of q·m
    CHECK(blocks(one, links[2]) == 1);
    std::vector<std::size_t> short_one(16);
    short_one[7] = 3;
    CHECK(blocks(short_one, links[1]) == 1);
    CHECK(blocks(std::vector<std::size_t>(5), links[1]) == 1);
}

TEST_CASE("all_reduce takes the way that is shortest in the model, a census only of exact operators") {
    bool seen[3] = {};
    for (int ranks = 1; ranks <= 40; ++ranks)
        for (auto const& link : links)
            for (std::size_t count = 1; count < 10'000'000; count = count * 3 + 1)
                for (bool const exact : {false, true}) {
                    auto shape = shape_of(collective_kind::all_reduce, ranks, 0, count);
                    shape.exact = exact;
                    auto const way = choose_circulant_all_reduce(shape, link);
                    double const q = rounds(ranks), p = ranks;
                    double const latency = static_cast<double>(link.latency.count());
                    double const volume = static_cast<double>(shape.bytes()) * link.per_byte;
                    bool const power = std::has_single_bit(static_cast<unsigned>(ranks));
                    double const one_way = 5.0 / 3 * latency, part = (p - 1) / p * volume;
                    double const round_trips = power ? q : q + 1;
                    double const graph = q * one_way + part;
                    double const halves = round_trips * latency + part + (power ? 0 : (p + 1) / p * volume);
                    bool const is_short = volume <= 16 * latency && halves < graph;
                    double const times[] = {(is_short ? halves : graph) +
                                                (is_short && power ? halves : graph),
                                            q * (one_way + volume), round_trips * (latency + volume)};
                    double const least = std::min({times[0], exact ? times[1] : times[0], times[2]});
                    CHECK(times[static_cast<int>(way)] <= least * (1 + 1e-12));
                    CHECK((exact || way != all_reduce_way::census));
                    seen[static_cast<int>(way)] = true;
                    bool same = true;
                    for (shape.rank = 1; shape.rank < ranks; ++shape.rank)
                        same = same && choose_circulant_all_reduce(shape, link) == way;
                    CHECK(same);
                }
    CHECK((seen[0] && seen[1] && seen[2]));
}

TEST_CASE("calls say whether their operator is exact") {
    auto const exact = [](auto value, auto op) {
        using papcoll::detail::call_description;
        auto const call = call_description::of<decltype(value)>(papcoll::collective_kind::all_reduce, op);
        return papcoll::detail::shape_of(call, 4, 1).exact;
    };
    CHECK(exact(1, std::plus<>()));
    CHECK(exact(1, papcoll::commutative(std::plus<>())));
    CHECK_FALSE(exact(1.0F, std::plus<>()));
    CHECK_FALSE(exact(1.0, std::multiplies<>()));
    CHECK_FALSE(exact(1, papcoll::commutative([](int a, int) { return a; })));
}

TEST_CASE("an all-reduce is written in the way that was chosen") {
    auto const plan = [](link_model const& link, bool exact, int rank) {
        auto shape = shape_of(collective_kind::all_reduce, 13, rank, 100);
        shape.exact = exact;
        return circulant{}.plan(shape, link);
    };
    link_model const latency{ticks(1'000'000), 10.0}, bytes{ticks(1), 10.0}, both{ticks(1'000), 3.0};
    for (int rank = 0; rank < 13; ++rank) {
        CAPTURE(rank);
        // A census has q messages of the whole.
        auto const census = plan(both, true, rank);
        CHECK(program_lists::elements(census, action::send) == 400);
        CHECK(program_lists::count(census, action::send) == 4);
        // 2q rounds of parts
        for (bool const exact : {false, true}) {
            auto const scattered = plan(bytes, exact, rank);
            CHECK(program_lists::count(scattered, action::send) == 8);
            CHECK(program_lists::elements(scattered, action::send) < 200);
        }
        // A butterfly combines alike on all ranks; of 13 the first ten are pairs.
        auto const butterfly = plan(latency, false, rank);
        bool const gives = rank < 10 && rank % 2 == 1;
        CHECK(program_lists::count(butterfly, action::send) == (gives ? 1u : rank < 10 ? 4u : 3u));
        for (auto const& i : butterfly.instructions) CHECK((i.what != action::combine || i.alike));
    }
}
