// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// alone: it counts what operator new is asked for
#include <papcoll/policy/automatic.hpp>
#include <papcoll/policy/known_policies.hpp>
#include <papcoll/policy/scheduled.hpp>
#include <papcoll/policy/shared_memory.hpp>
#include <papcoll/scheduler/circulant.hpp>
#include <papcoll/scheduler/circulant_all_gather.hpp>
#include <papcoll/scheduler/ring.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <malloc.h>
#include <new>
#include <string>
#include <tuple>
#include <vector>

#include "../../support/program_lists.hpp"
#include "../../support/sanitized.hpp"
#include "../../support/uneven_calls.hpp"

// The most memory that was allocated at a time since the last look.
namespace {

std::size_t allocated = 0;
std::size_t most_allocated = 0;

} // namespace

// All forms, since a sanitizer has its own of those that are left out.
auto operator new(std::size_t bytes, std::nothrow_t const&) noexcept -> void* {
    void* const memory = std::malloc(bytes);
    if (memory == nullptr) return nullptr;
    allocated += malloc_usable_size(memory);
    most_allocated = std::max(most_allocated, allocated);
    return memory;
}
auto operator new(std::size_t bytes) -> void* {
    if (void* const memory = operator new(bytes, std::nothrow)) return memory;
    throw std::bad_alloc();
}
auto operator new[](std::size_t bytes) -> void* { return operator new(bytes); }
auto operator new[](std::size_t bytes, std::nothrow_t const&) noexcept -> void* {
    return operator new(bytes, std::nothrow);
}
void operator delete(void* memory) noexcept {
    if (memory != nullptr) allocated -= malloc_usable_size(memory);
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
void operator delete(void* memory, std::nothrow_t const&) noexcept { operator delete(memory); }
void operator delete[](void* memory) noexcept { operator delete(memory); }
void operator delete[](void* memory, std::size_t) noexcept { operator delete(memory); }
void operator delete[](void* memory, std::nothrow_t const&) noexcept { operator delete(memory); }

using papcoll::link_model;
using papcoll::program;
using papcoll::ticks;
using namespace uneven_calls;

namespace {

std::vector<link_model> const links{
    {ticks(50'000), 80.0}, {ticks(50'000), 0.08}, {ticks(1'500), 0.08}, {ticks(0), 1.0}, {ticks(1'000), 0.0}};
std::vector<collective_kind> const all_kinds{
    collective_kind::broadcast,  collective_kind::reduce,     collective_kind::all_reduce,
    collective_kind::gather,     collective_kind::all_gather, collective_kind::reduce_scatter,
    collective_kind::all_to_all, collective_kind::scatter,    collective_kind::scan,
    collective_kind::exscan,     collective_kind::barrier,
};

/// Calls f(policy) for every policy that has a name, and some that are made of schedulers.
template <class F>
void for_each_policy(F const& f) {
    using known = papcoll::detail::known_policies<papcoll::simd_bitset<>>;
    std::apply([&](auto const&... policy) { (f(policy), ...); }, known::all{});
    f(papcoll::automatic{});
    f(papcoll::scheduled<papcoll::ring_scheduler>{});
    f(papcoll::scheduled<papcoll::circulant_scheduler>{});
    f(papcoll::scheduled<papcoll::circulant_reduce_scatter_scheduler>{});
}

/// What must hold of a plan beside being right.
void check_bounds(auto const& policy, call_shape shape, link_model const& link, std::vector<int> const& ranks,
                  bool own_buffers) {
    std::vector<int> const one_node(static_cast<std::size_t>(shape.ranks), 0);
    if constexpr (requires { policy.serves(shape); }) {
        shape.nodes = one_node;
        shape.shared_bytes = std::size_t(256) << 10;
        shape.own_buffers = own_buffers;
        if (!policy.serves(shape)) return;
    }
    for (int const rank : ranks) {
        shape.rank = rank;
        CAPTURE(std::string(policy.name()));
        CAPTURE(to_string(shape.operation));
        CAPTURE(shape.ranks);
        CAPTURE(rank);
        CAPTURE(shape.count);
        CAPTURE(shape.sizes.size());
        CAPTURE(shape.own_buffers);
        CAPTURE(link.latency.count());
        CAPTURE(link.per_byte);
        auto const before = allocated;
        most_allocated = before;
        auto const begin = std::clock();
        auto const plan = policy.plan(shape, link);
        auto const seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
        CHECK(plan.held_bytes() <= papcoll::plan_limit(shape.ranks));
        CHECK(most_allocated - before <= 16'000'000 + 1'000 * static_cast<std::size_t>(shape.ranks));
        CHECK(seconds < 10); // about 0.3 where nothing else runs; with sanitizers more
        CHECK(plan.held_bytes() + 4'000 >= allocated - before); // nothing is left out of the count
    }
}
void check_bounds(auto const& policy, call_shape const& shape, link_model const& link,
                  std::vector<int> const& ranks) {
    check_bounds(policy, shape, link, ranks, false);
    if constexpr (requires { policy.serves(shape); }) check_bounds(policy, shape, link, ranks, true);
}
void check_bounds(auto const& policy, call_shape const& shape, link_model const& link) {
    int const p = shape.ranks;
    auto ranks = p > 3 ? std::vector<int>{0, p / 3, p - 1} : std::vector<int>{p - 1};
    check_bounds(policy, shape, link, ranks);
}

} // namespace

TEST_CASE("a plan keeps within its limit, whatever the policy, the shape and the link") {
    auto const tried = test_support::sanitized ? std::vector{1, 3, 8, 48} : std::vector{1, 2, 3, 8, 48, 1000};
    for (int const ranks : tried) {
        auto const p = static_cast<std::size_t>(ranks);
        std::vector<int> const nodes_of_8 = [&] {
            std::vector<int> nodes;
            for (int r = 0; r < ranks; ++r) nodes.push_back(r / 8);
            return nodes;
        }();
        std::vector<size_list> const uneven{one_long(ranks, std::size_t(1) << 30), ramp(ranks, 10'000),
                                            half_empty(ranks, 1 << 22), scattered(ranks)};
        for (auto const operation : all_kinds)
            for (auto const& link : ranks < 100 ? links : std::vector{links[0], links[2]})
                for_each_policy([&](auto const& policy) {
                    if (!policy.provides(operation)) return;
                    for (std::size_t const count : {std::size_t(0), std::size_t(1), p, 1000 * p,
                                                    std::size_t(1) << 26, std::size_t(1) << 43}) {
                        if (policy.name() == "clairvoyant" && ranks == 1000 && count > 1 << 26) continue;
                        auto shape = shape_of(operation, ranks, count);
                        check_bounds(policy, shape, link);
                        shape.nodes = nodes_of_8;
                        if (policy.name() == "two_level") check_bounds(policy, shape, link);
                    }
                    for (auto const& sizes : uneven)
                        if (has_parts(operation))
                            check_bounds(policy, shape_of(operation, ranks, 0, sizes), link);
                });
    }
}

TEST_CASE("a plan for many ranks keeps within its limit, and takes little memory and time to make") {
    int const ranks = test_support::sanitized ? 50'000 : 100'000;
    auto const p = static_cast<std::size_t>(ranks);
    std::vector<int> nodes;
    for (int r = 0; r < ranks; ++r) nodes.push_back(r / 32);
    std::vector<int> const root{0}, other{ranks / 3};
    auto const one = one_long(ranks, std::size_t(1) << 30);
    auto const many = ramp(ranks, 100);
    for (auto const operation : all_kinds)
        for_each_policy([&](auto const& policy) {
            if (!policy.provides(operation)) return;
            auto shape = shape_of(operation, ranks, std::size_t(1) << 40);
            shape.nodes = nodes;
            check_bounds(policy, shape, links[0], other);
            if (test_support::sanitized) return;
            shape.count = p;
            check_bounds(policy, shape, links[0], root);
            if (!has_parts(operation)) return;
            check_bounds(policy, shape_of(operation, ranks, 0, one), links[2], root);
            check_bounds(policy, shape_of(operation, ranks, 0, many), links[0], other);
        });
}

TEST_CASE("one part of 1 GiB among 10 000 short ones: it alone is cut, and into many blocks") {
    auto const sizes = one_long(10'000, std::size_t(1) << 30);
    for (auto const operation : {collective_kind::all_gather, collective_kind::reduce_scatter}) {
        auto const shape = shape_of(operation, 10'000, 0, sizes);
        auto const plan = papcoll::circulant{}.plan(shape, links[2]);
        CHECK(plan.held_bytes() < 1'000'000); // 600 MB with as many blocks of each
        auto const what =
            operation == collective_kind::all_gather ? program::action::receive : program::action::send;
        CHECK(program_lists::count(plan, what) > 500);
        // q − 1 blocks are what the pipeline costs beside the 1 GiB itself.
        std::size_t longest = 0;
        for (auto const& m : program_lists::messages(plan, what)) longest = std::max(longest, m.elements);
        CHECK(longest <= (std::size_t(1) << 30) / 500 + 100'000);
    }
}

TEST_CASE("whether ranks can share memory is found out without allocating any") {
    std::vector<int> const one_node(48, 0);
    auto const sizes = one_long(48, 1'000);
    for (auto const operation : all_kinds)
        for (bool const uneven : {false, true}) {
            if (uneven && !has_parts(operation)) continue;
            auto shape =
                uneven ? shape_of(operation, 48, 0, sizes) : shape_of(operation, 48, std::size_t(48'000));
            shape.nodes = one_node;
            shape.shared_bytes = std::size_t(256) << 10;
            most_allocated = allocated;
            CHECK(papcoll::shared_memory::serves(shape));
            papcoll::shared_memory{}.check(shape);
            CHECK(most_allocated == allocated);
        }
}
