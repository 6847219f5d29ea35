// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/policy/background_circulant.hpp>
#include <papcoll/policy/background_ring.hpp>
#include <papcoll/policy/circulant.hpp>
#include <papcoll/policy/linear.hpp>
#include <papcoll/policy/neighbor_exchange.hpp>
#include <papcoll/policy/ring.hpp>
#include <papcoll/policy/two_level.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "../../support/program_calls.hpp"
#include "../../support/program_lists.hpp"
#include "../../support/sanitized.hpp"
#include "../../support/uneven_calls.hpp"

using papcoll::link_model;
using papcoll::ticks;
using program_lists::action;
using namespace uneven_calls;

namespace {

std::vector<link_model> const links{{ticks(50'000), 80.0}, {ticks(1'500), 0.08}, {ticks(0), 1.0}};

auto tried_ranks() -> std::vector<int> {
    if (test_support::sanitized) return {1, 2, 5, 8};
    std::vector<int> all(17);
    std::iota(all.begin(), all.end(), 1);
    return all;
}

/// What verify says of a policy's programs.
template <class Policy>
auto violation(Policy const& policy, call_shape const& shape, link_model const& link) -> std::string {
    program_calls::call call{.shape = shape};
    call.sizes.assign(shape.sizes.begin(), shape.sizes.end());
    return program_calls::violation_of(policy, call, link).value_or("");
}

} // namespace

TEST_CASE("the parts of ranks are gathered and scattered rightly, however uneven they are") {
    for (int const ranks : tried_ranks())
        for (auto const& sizes :
             {one_long(ranks, 3'000'000), one_long(ranks, 100), ramp(ranks, 70'001), ramp(ranks, 1),
              half_empty(ranks, 400'000), half_empty(ranks, 1), scattered(ranks),
              size_list(static_cast<std::size_t>(ranks)), size_list(static_cast<std::size_t>(ranks), 90'000)})
            for (auto const& link : links) {
                CAPTURE(ranks);
                CAPTURE(sizes);
                CAPTURE(link.per_byte);
                auto const gather = shape_of(collective_kind::all_gather, ranks, 0, sizes);
                auto const scatter = shape_of(collective_kind::reduce_scatter, ranks, 0, sizes);
                papcoll::two_level const pairs{.ranks_per_node = 2};
                CHECK(violation(papcoll::circulant{}, gather, link) == "");
                CHECK(violation(papcoll::circulant{}, scatter, link) == "");
                CHECK(violation(pairs, gather, link) == "");
                CHECK(violation(pairs, scatter, link) == "");
                CHECK(violation(papcoll::ring{}, gather, link) == "");
                CHECK(violation(papcoll::neighbor_exchange{}, gather, link) == "");
                CHECK(violation(papcoll::background_ring{}, gather, link) == "");
                CHECK(violation(papcoll::background_circulant{}, gather, link) == "");
            }
}

TEST_CASE("long and short parts of more ranks") {
    for (int const ranks : test_support::sanitized ? std::vector{11} : std::vector{31, 48, 65}) {
        auto sizes = scattered(ranks);
        for (std::size_t r = 0; r < sizes.size(); r += 7) sizes[r] = 2'000'000 + r;
        for (auto const& link : {links[0], links[1]}) {
            CAPTURE(ranks);
            auto const gather = shape_of(collective_kind::all_gather, ranks, 0, sizes);
            CHECK(papcoll::circulant{}.blocks(gather, link) > 1);
            CHECK(violation(papcoll::circulant{}, gather, link) == "");
            CHECK(violation(papcoll::circulant{}, shape_of(collective_kind::reduce_scatter, ranks, 0, sizes),
                            link) == "");
        }
    }
}

TEST_CASE("linear all-gathers bring each rank the parts of all others once, however uneven they are") {
    for (int const ranks : {1, 2, 3, 8, 13, test_support::sanitized ? 20 : 600})
        for (auto const& sizes : {one_long(ranks, 3'000'000), ramp(ranks, 1'000), ramp(ranks, 1),
                                  half_empty(ranks, 1), scattered(ranks)})
            for (auto const& link : {links[0], links[1]}) {
                auto shape = shape_of(collective_kind::all_gather, ranks, 0, sizes);
                CAPTURE(ranks);
                CAPTURE(sizes);
                if (ranks < 100) CHECK(violation(papcoll::linear{}, shape, link) == "");
                // The root gets each part once, and so do the others.
                std::size_t sent = 0, received = 0;
                bool once = true;
                for (shape.rank = 0; shape.rank < ranks; ++shape.rank) {
                    auto const plan = papcoll::linear{}.plan(shape, link);
                    auto const mine = sizes[static_cast<std::size_t>(shape.rank)];
                    once = once && program_lists::elements(plan, action::receive) == shape.count - mine;
                    sent += program_lists::elements(plan, action::send);
                    received += program_lists::elements(plan, action::receive);
                }
                CHECK(once);
                CHECK(sent == received);
            }
}

TEST_CASE("what would be too long for a plan is cut when it is executed") {
    auto const shape = shape_of(collective_kind::all_gather, 8, std::size_t(1) << 30);
    auto const kept = papcoll::circulant{}.plan(shape, links[0]);
    CHECK(kept.uncut);
    CHECK(program_lists::count(kept, action::receive) == 3);
    CHECK(kept.held_bytes() <= papcoll::plan_limit(8));
    auto const executed = program_lists::executed(kept);
    CHECK_FALSE(executed.uncut);
    CHECK(executed.held_bytes() > papcoll::plan_limit(8));
    for (auto const what : {action::send, action::receive}) {
        bool cut = true;
        for (auto const& m : program_lists::messages(executed, what)) cut = cut && m.elements <= 32'768;
        CHECK(cut);
        CHECK(program_lists::elements(executed, what) == (std::size_t(7) << 27));
    }
    auto const short_one =
        papcoll::circulant{}.plan(shape_of(collective_kind::all_gather, 8, 1 << 20), links[0]);
    CHECK_FALSE(short_one.uncut); // cut already
    CHECK(program_lists::count(short_one, action::receive) == 28);
    CHECK(violation(papcoll::ring{}, shape_of(collective_kind::all_gather, 3, 300'000'000), links[0]) == "");
}
