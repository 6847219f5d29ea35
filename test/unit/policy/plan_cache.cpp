// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/policy/circulant.hpp>
#include <papcoll/policy/plan_cache.hpp>
#include <papcoll/policy/scheduled.hpp>

#include <doctest/doctest.h>

#include <any>
#include <cstddef>
#include <vector>

#include "../../support/own_schedulers.hpp"

using papcoll::call_shape;
using papcoll::collective_kind;
using papcoll::link_model;
using papcoll::ticks;
using sizes = std::vector<std::size_t>;

namespace {

link_model const slow{ticks(1'000), 1.0};

auto shape_of(sizes const& each, sizes const& begins = {}) -> call_shape {
    call_shape shape{.operation = collective_kind::all_gather, .ranks = 3, .rank = 1};
    for (auto const n : each) shape.count += n;
    shape.element_bytes = 4;
    shape.sizes = each;
    shape.displacements = begins;
    return shape;
}

} // namespace

TEST_CASE("plans of different sizes and displacements are different plans") {
    std::any slot;
    auto& cache = papcoll::detail::plan_cache::of(slot);
    papcoll::circulant const policy{};
    sizes const even{4, 4, 4}, uneven{5, 3, 4}, begins{0, 4, 8}, gaps{0, 5, 10};
    auto const plan = cache.plan(policy, shape_of(even), slow);
    sizes const again = even; // by value, not by address
    CHECK(cache.plan(policy, shape_of(again), slow) == plan);
    CHECK(cache.plan(policy, shape_of(uneven), slow) != plan);
    CHECK(cache.plan(policy, shape_of(even, gaps), slow) != plan);
    CHECK(cache.plan(policy, shape_of(even, begins), slow) != cache.plan(policy, shape_of(even, gaps), slow));
    CHECK(cache.plan(policy, shape_of(even, gaps), slow)->stages[0].program.offset(2) == 10);
    CHECK(cache.plan(policy, shape_of(uneven), slow)->stages[0].program.size(1) == 3);
    CHECK(cache.plan(policy, shape_of(even), slow) == plan);
}

TEST_CASE("plans differ by operation, root, element, exactness, commutativity, link and policy") {
    std::any slot;
    auto& cache = papcoll::detail::plan_cache::of(slot);
    papcoll::circulant const policy{};
    call_shape shape{.operation = collective_kind::all_reduce, .ranks = 5, .rank = 2};
    shape.count = 100;
    shape.element_bytes = 8;
    auto const plan = cache.plan(policy, shape, slow);
    auto const other = [&](auto change) {
        auto changed = shape;
        change(changed);
        CHECK(cache.plan(policy, changed, slow) != plan);
    };
    other([](call_shape& s) { s.operation = collective_kind::reduce; });
    other([](call_shape& s) { s.operation = collective_kind::broadcast; });
    other([](call_shape& s) { s.root = 1; });
    other([](call_shape& s) { s.count = 101; });
    other([](call_shape& s) { s.element_bytes = 4; });
    other([](call_shape& s) { s.exact = true; });
    other([](call_shape& s) { s.commutative = false; });
    CHECK(cache.plan(policy, shape, link_model{ticks(1'001), 1.0}) != plan);
    CHECK(cache.plan(policy, shape, link_model{ticks(1'000), 1.5}) != plan);
    CHECK(cache.plan(papcoll::circulant{.block_bytes = 64}, shape, slow) != plan);
    CHECK(cache.plan(papcoll::scheduled<own_schedulers::to_the_owners>{}, shape, slow) != plan);
    CHECK(cache.plan(policy, shape, slow) == plan);
}
