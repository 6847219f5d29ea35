// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/policy/circulant.hpp>
#include <papcoll/policy/plan_cache.hpp>
#include <papcoll/policy/scheduled.hpp>
#include <papcoll/scheduler/knomial_tree.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "../../support/own_schedulers.hpp"
#include "../../support/program_lists.hpp"

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
    papcoll::detail::plan_cache cache;
    papcoll::circulant const policy{};
    sizes const even{4, 4, 4}, uneven{5, 3, 4}, begins{0, 4, 8}, gaps{0, 5, 10};
    auto const plan_of = [&](call_shape const& shape) { return cache.plan(policy, shape, slow).what; };
    auto const plan = plan_of(shape_of(even));
    sizes const again = even; // by value, not by address
    CHECK(plan_of(shape_of(again)) == plan);
    CHECK(plan_of(shape_of(uneven)) != plan);
    CHECK(plan_of(shape_of(even, gaps)) != plan);
    CHECK(plan_of(shape_of(even, begins)) != plan_of(shape_of(even, gaps)));
    auto const end_of_results = [](papcoll::program const& p) {
        std::size_t end = 0;
        for (auto const& r : p.regions)
            if (r.where() == papcoll::memory::out) end = std::max(end, r.end());
        return end;
    };
    CHECK(end_of_results(*plan_of(shape_of(even, gaps))) == 14);
    CHECK(end_of_results(*plan_of(shape_of(even))) == 12);
    CHECK(program_lists::elements(*plan_of(shape_of(even)), papcoll::program::action::copy) == 4);
    CHECK(program_lists::elements(*plan_of(shape_of(uneven)), papcoll::program::action::copy) == 3);
    CHECK(plan_of(shape_of(even)) == plan);
}

TEST_CASE("plans differ by operation, root, element, exactness, commutativity, link and policy") {
    papcoll::detail::plan_cache cache;
    papcoll::circulant const policy{};
    call_shape shape{.operation = collective_kind::all_reduce, .ranks = 5, .rank = 2};
    shape.count = 100;
    shape.element_bytes = 8;
    auto const plan = cache.plan(policy, shape, slow).what;
    auto const other = [&](auto change) {
        auto changed = shape;
        change(changed);
        CHECK(cache.plan(policy, changed, slow).what != plan);
    };
    other([](call_shape& s) { s.operation = collective_kind::reduce; });
    other([](call_shape& s) { s.operation = collective_kind::broadcast; });
    other([](call_shape& s) { s.root = 1; });
    other([](call_shape& s) { s.count = 101; });
    other([](call_shape& s) { s.element_bytes = 4; });
    other([](call_shape& s) { s.exact = true; });
    other([](call_shape& s) { s.commutative = false; });
    other([](call_shape& s) { s.in_place = true; });
    other([](call_shape& s) { s.late = true; });
    CHECK(cache.plan(policy, shape, link_model{ticks(1'001), 1.0}).what != plan);
    CHECK(cache.plan(policy, shape, link_model{ticks(1'000), 1.5}).what != plan);
    CHECK(cache.plan(papcoll::circulant{.block_bytes = 64}, shape, slow).what != plan);
    CHECK(cache.plan(papcoll::scheduled<own_schedulers::to_the_owners>{}, shape, slow).what != plan);
    CHECK(cache.plan(policy, shape, slow).what == plan);
}

namespace {

/// A policy whose plans hold a given number of bytes, and that counts how often it is asked.
struct of_size {
    std::size_t bytes;
    int* asked;

    static constexpr bool reorders_operands = true;
    static constexpr auto provides(collective_kind) -> bool { return true; }
    [[nodiscard]] auto name() const -> std::string_view { return "of_size"; }
    void check(call_shape const&) const {}
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> {
        return std::vector<std::int64_t>{static_cast<std::int64_t>(bytes)};
    }
    [[nodiscard]] auto plan(call_shape const&, link_model const&) const -> papcoll::program {
        ++*asked;
        papcoll::program result;
        result.waits.reserve(bytes / sizeof(papcoll::program::index));
        return result;
    }
};

} // namespace

namespace {

/// Schedulers with members: what a plan depends on is behind one of them, and only some say so.
struct ordered : own_schedulers::to_the_owners {
    std::span<int const> order;
};
struct ordered_and_told : ordered {
    [[nodiscard]] auto fingerprint() const -> std::vector<std::int64_t> {
        return {order.begin(), order.end()};
    }
};

} // namespace

TEST_CASE("plans of a scheduler with members are kept by its fingerprint, not by its bytes") {
    papcoll::detail::plan_cache cache;
    call_shape shape{.operation = collective_kind::reduce, .ranks = 5, .rank = 2};
    shape.count = 100;
    shape.element_bytes = 8;
    std::vector<int> order{1, 2, 3};
    auto const copy = order;
    papcoll::scheduled<ordered> const silent{.algorithm = {{}, order}};
    CHECK_FALSE(silent.fingerprint());
    CHECK_FALSE(papcoll::detail::told_scheduler<papcoll::reversed_scheduler<ordered>>);
    using papcoll::knomial_tree_scheduler;
    auto const key = [](auto const& algorithm) { return papcoll::scheduled{algorithm}.fingerprint(); };
    CHECK(key(knomial_tree_scheduler(2)) == key(knomial_tree_scheduler(2)));
    CHECK(key(knomial_tree_scheduler(2)) != key(knomial_tree_scheduler(4)));
    CHECK(key(papcoll::reversed(knomial_tree_scheduler(2))) !=
          key(papcoll::reversed(knomial_tree_scheduler(4))));
    CHECK(key(papcoll::reversed(own_schedulers::to_the_owners{})));
    papcoll::scheduled<ordered_and_told> const told{.algorithm = {{{}, order}}};
    papcoll::scheduled<ordered_and_told> const same{.algorithm = {{{}, copy}}};
    auto const plan = cache.plan(told, shape, slow).what;
    CHECK(told.agreement_key() == same.agreement_key());
    CHECK(cache.plan(same, shape, slow).what == plan);
    order[0] = 7;
    CHECK(cache.plan(told, shape, slow).what != plan);
    CHECK(cache.plan(same, shape, slow).what == plan);
}

TEST_CASE("a cache holds no more bytes than it may, and drops what was used longest ago") {
    papcoll::detail::plan_cache cache(100'000);
    int asked = 0;
    call_shape const shape{};
    auto const use = [&](std::size_t bytes) {
        (void)cache.plan(of_size{bytes, &asked}, shape, slow);
        CHECK(cache.held_bytes() <= 100'000);
    };
    for (std::size_t const bytes : {30'000u, 30'001u, 30'002u}) use(bytes);
    CHECK(asked == 3);
    CHECK(cache.held_bytes() > 90'000);
    for (std::size_t const bytes : {30'000u, 30'001u, 30'002u, 30'000u}) use(bytes);
    CHECK(asked == 3);
    use(20'000); // in place of 30'001
    CHECK(asked == 4);
    use(30'000);
    use(30'002);
    CHECK(asked == 4);
    use(30'001); // again, in place of 20'000: that is not enough, and of 30'000
    CHECK(asked == 5);
    use(30'002);
    CHECK(asked == 5);
    for (std::size_t i = 0; i < 100; ++i) use(10'000 + 977 * i);
    CHECK(asked == 105);
}

TEST_CASE("a plan that is larger than the whole cache is not kept, and leaves the others in it") {
    papcoll::detail::plan_cache cache(100'000);
    int asked = 0;
    auto const small = cache.plan(of_size{1'000, &asked}, {}, slow).what;
    auto const held = cache.held_bytes();
    auto const large = cache.plan(of_size{100'000, &asked}, {}, slow).what;
    CHECK(large->held_bytes() >= 100'000);
    CHECK(cache.held_bytes() == held);
    CHECK(cache.plan(of_size{1'000, &asked}, {}, slow).what == small);
    CHECK(asked == 2);
    CHECK(cache.plan(of_size{100'000, &asked}, {}, slow).what != large);
}

TEST_CASE("the lists of sizes and displacements in the keys count") {
    papcoll::detail::plan_cache cache(100'000);
    int asked = 0;
    sizes const lists(3'000, 1);
    call_shape shape{.operation = collective_kind::all_gather, .ranks = 3'000};
    shape.sizes = lists;
    (void)cache.plan(of_size{0, &asked}, shape, slow);
    CHECK(cache.held_bytes() > 24'000);
    shape.displacements = lists;
    (void)cache.plan(of_size{0, &asked}, shape, slow);
    CHECK(cache.held_bytes() > 72'000);
    (void)cache.plan(of_size{1, &asked}, shape, slow); // in place of the first
    CHECK(cache.held_bytes() < 100'000);
    CHECK(asked == 3);
    shape.displacements = {};
    (void)cache.plan(of_size{0, &asked}, shape, slow);
    CHECK(asked == 4);
}

TEST_CASE("by default a cache holds 4 MB: all of a few hundred ranks, one of tens of thousands") {
    papcoll::detail::plan_cache cache;
    papcoll::circulant const policy{};
    for (int const ranks : {300, 30'000, 100'000})
        for (std::size_t count = 1; count <= 40; ++count) {
            call_shape shape{.operation = collective_kind::all_gather, .ranks = ranks};
            shape.count = count * static_cast<std::size_t>(ranks);
            auto const plan = cache.plan(policy, shape, slow).what;
            CHECK(cache.held_bytes() <= 4'000'000);
            CHECK(cache.plan(policy, shape, slow).what == plan);
        }
}
