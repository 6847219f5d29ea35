// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/policy/background_circulant.hpp>
#include <papcoll/policy/background_ring.hpp>
#include <papcoll/policy/circulant_choice.hpp>
#include <papcoll/policy/linear.hpp>
#include <papcoll/policy/neighbor_exchange.hpp>
#include <papcoll/policy/ring.hpp>
#include <papcoll/policy/sorted_linear.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../../support/program_calls.hpp"
#include "../../support/program_lists.hpp"

using papcoll::call_shape;
using papcoll::collective_kind;
using papcoll::link_model;
using papcoll::program;
using papcoll::ticks;
using program_lists::action;

namespace {

link_model const slow{ticks(150'000), 84.0};

auto shape_of(collective_kind operation, int ranks, int rank, std::size_t part) -> call_shape {
    call_shape shape{.operation = operation, .ranks = ranks, .rank = rank};
    shape.count = part * static_cast<std::size_t>(ranks);
    shape.element_bytes = 4;
    return shape;
}
template <class Policy>
void is_right(Policy const& policy, collective_kind operation, int ranks, std::size_t part, int root = 0) {
    program_calls::call call{.shape = shape_of(operation, ranks, 0, part)};
    call.shape.root = root;
    policy.check(call.shape);
    CHECK(program_calls::violation_of(policy, call, slow).value_or("") == "");
}
template <class Policy>
auto plans_of(Policy const& policy, collective_kind operation, int ranks, std::size_t part, int root = 0)
    -> std::vector<program> {
    program_calls::call call{.shape = shape_of(operation, ranks, 0, part)};
    call.shape.root = root;
    return program_calls::programs_of(policy, call, slow);
}
/// Right, and without a message that is not needed.
template <class Policy>
void delivers_once(Policy const& policy, int ranks, std::size_t part) {
    is_right(policy, collective_kind::all_gather, ranks, part);
    for (auto const& plan : plans_of(policy, collective_kind::all_gather, ranks, part))
        CHECK(program_lists::elements(plan, action::receive) == part * static_cast<std::size_t>(ranks - 1));
}
auto mixed_arrivals(int ranks) -> std::vector<ticks> {
    std::vector<ticks> arrivals;
    for (int r = 0; r < ranks; ++r) arrivals.emplace_back(r * 7919 % 23 * 1'000'000);
    return arrivals;
}
template <class F>
auto complaint(F f) -> std::string {
    try {
        f();
    } catch (std::invalid_argument const& e) {
        return e.what();
    }
    return "";
}

} // namespace

TEST_CASE("every rank gets every block of the others once, at any number of ranks and any size") {
    for (int ranks = 1; ranks <= 17; ++ranks)
        for (std::size_t const part : {0u, 1u, 100'000u}) {
            CAPTURE(ranks);
            CAPTURE(part);
            auto const arrivals = mixed_arrivals(ranks);
            delivers_once(papcoll::ring{}, ranks, part);
            delivers_once(papcoll::neighbor_exchange{}, ranks, part);
            delivers_once(papcoll::background_ring{.arrivals = arrivals}, ranks, part);
            delivers_once(papcoll::background_circulant{.arrivals = arrivals}, ranks, part);
        }
}

TEST_CASE("linear and sorted_linear gather every part once, then broadcast what a rank does not have") {
    for (int ranks = 1; ranks <= 17; ++ranks)
        for (std::size_t const part : {0u, 1u, 100'000u}) {
            CAPTURE(ranks);
            CAPTURE(part);
            auto const others = part * static_cast<std::size_t>(ranks - 1);
            for (int root = 0; root < ranks; ++root) {
                is_right(papcoll::linear{}, collective_kind::gather, ranks, part, root);
                is_right(papcoll::sorted_linear{}, collective_kind::gather, ranks, part, root);
                auto const gathers = plans_of(papcoll::linear{}, collective_kind::gather, ranks, part, root);
                auto const& at_root = gathers[static_cast<std::size_t>(root)];
                CHECK(program_lists::elements(at_root, action::receive) == others);
                CHECK(program_lists::elements(at_root, action::send) == 0);
            }
            delivers_once(papcoll::linear{}, ranks, part);
            delivers_once(papcoll::sorted_linear{}, ranks, part);
        }
}

TEST_CASE("a linear gather of many ranks awaits some of them at a time") {
    for (int const ranks : {1, 2, 65, 66, 5000}) {
        auto const plan = papcoll::linear{}.plan(shape_of(collective_kind::gather, ranks, 0, 1), slow);
        CHECK(program_lists::count(plan, action::receive) == static_cast<std::size_t>(ranks - 1));
        for (program::index i = 0; i < plan.size(); ++i)
            if (plan.instructions[i].what == action::receive)
                CHECK(plan.windows_of(i).receives == std::clamp(ranks - 1, 1, 64));
    }
}

TEST_CASE("sorted_linear asks in the order of arrivals, ties by rank, everybody but the root once") {
    for (int const ranks : {1, 2, 9, 40})
        for (int const root : {0, ranks - 1}) {
            auto const arrivals = mixed_arrivals(ranks);
            auto const plans = plans_of(papcoll::sorted_linear{.arrivals = arrivals}, collective_kind::gather,
                                        ranks, 10, root);
            auto const order = program_lists::peers(plans[static_cast<std::size_t>(root)], action::send);
            CHECK(order == program_lists::peers(plans[static_cast<std::size_t>(root)], action::receive));
            CHECK(order.size() == static_cast<std::size_t>(ranks - 1));
            CHECK(std::find(order.begin(), order.end(), root) == order.end());
            CHECK(std::is_sorted(order.begin(), order.end(), [&](int a, int b) {
                return std::pair(arrivals[static_cast<std::size_t>(a)], a) <
                       std::pair(arrivals[static_cast<std::size_t>(b)], b);
            }));
        }
}

TEST_CASE("the block time is that of the largest part, and pieces are worth their latency") {
    auto shape = shape_of(collective_kind::all_gather, 16, 0, 32'768);
    CHECK(papcoll::detail::block_time_of({}, shape, slow) == ticks(150'000 + 131'072 * 84));
    papcoll::background_circulant const policy{};
    int const n = policy.blocks(shape, slow);
    CHECK(n >= 2);
    CHECK(131'072 / n >= 8192);
    CHECK(papcoll::background_circulant{.arrivals = {}, .block_time = {}, .segments = 5}.blocks(shape,
                                                                                                slow) == 5);
    CHECK(policy.blocks(shape_of(collective_kind::all_gather, 16, 0, 3), slow) == 1);
    CHECK(policy.blocks(shape_of(collective_kind::all_gather, 1, 0, 1 << 20), slow) == 1);
}

TEST_CASE("policies tell their parameters apart and refuse what cannot be") {
    using papcoll::background_circulant;
    using papcoll::background_ring;
    using papcoll::sorted_linear;
    std::vector<ticks> const two{ticks{0}, ticks{9}};
    CHECK(background_ring{}.fingerprint() != background_ring{.arrivals = two}.fingerprint());
    CHECK(background_ring{}.fingerprint() != background_ring{{}, ticks{1}}.fingerprint());
    CHECK(background_circulant{}.fingerprint() != background_circulant{{}, {}, 2}.fingerprint());
    CHECK(sorted_linear{}.fingerprint() != sorted_linear{{}, 7}.fingerprint());
    auto const shape = shape_of(collective_kind::all_gather, 3, 0, 4);
    auto const says = [&](char const* words, auto const& policy) {
        CHECK(complaint([&] { policy.check(shape); }).find(words) != std::string::npos);
    };
    says("arrivals must have one entry per rank (3), but have 2", background_ring{.arrivals = two});
    says("arrivals must have one entry per rank", background_circulant{.arrivals = two});
    says("arrivals must have one entry per rank", sorted_linear{.arrivals = two});
    says("block_time must be positive, but is -4 ns", background_ring{{}, ticks{-4}});
    says("block_time must be positive", background_circulant{{}, ticks{0}});
    says("segments must be at least 1", background_circulant{{}, {}, 0});
    says("first_bytes must be at least 1", sorted_linear{{}, 0});
    static_assert(!background_ring::provides(collective_kind::gather));
    static_assert(sorted_linear::provides(collective_kind::gather));
    static_assert(!papcoll::ring::provides(collective_kind::broadcast));
}
