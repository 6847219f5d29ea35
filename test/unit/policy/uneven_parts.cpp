// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/analysis/verify.hpp>
#include <papcoll/policy/background_circulant.hpp>
#include <papcoll/policy/background_ring.hpp>
#include <papcoll/policy/circulant.hpp>
#include <papcoll/policy/linear.hpp>
#include <papcoll/policy/neighbor_exchange.hpp>
#include <papcoll/policy/ring.hpp>
#include <papcoll/policy/two_level.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "../../support/plan_schedule.hpp"
#include "../../support/uneven_calls.hpp"

using papcoll::execution_plan;
using papcoll::execution_stage;
using papcoll::link_model;
using papcoll::ticks;
using namespace uneven_calls;

namespace {

std::vector<link_model> const links{{ticks(50'000), 80.0}, {ticks(1'500), 0.08}, {ticks(0), 1.0}};

template <class Policy>
auto plans_of(Policy const& policy, call_shape shape, link_model const& link) -> std::vector<execution_plan> {
    std::vector<execution_plan> plans;
    for (shape.rank = 0; shape.rank < shape.ranks; ++shape.rank) plans.push_back(policy.plan(shape, link));
    return plans;
}
/// What verify_… says of the only stage of a policy's plans.
template <class Policy>
auto violation(Policy const& policy, call_shape const& shape, link_model const& link) -> std::string {
    auto const plans = plans_of(policy, shape, link);
    auto schedule = plan_schedule::schedule_of(plans, 0);
    // Empty blocks do not travel.
    std::vector<int> number, owners;
    std::size_t elements = 0;
    for (std::size_t b = 0; b < schedule.owners.size(); ++b) {
        number.push_back(static_cast<int>(owners.size()));
        elements += schedule.block_elements[b];
        if (schedule.block_elements[b] > 0) owners.push_back(schedule.owners[b]);
    }
    CHECK(elements == shape.count);
    if (owners.empty()) return schedule.transfers.empty() ? "" : "something moves";
    for (auto& t : schedule.transfers) t.block = number[static_cast<std::size_t>(t.block)];
    papcoll::problem const p{
        .ranks = shape.ranks, .root = 0, .blocks = static_cast<int>(owners.size()), .owners = owners};
    bool const reduces = plans.front().stages.front().what == execution_stage::work::reduce;
    return (reduces ? verify_reduction(schedule.transfers, p) : verify_dissemination(schedule.transfers, p))
        .value_or("");
}

} // namespace

TEST_CASE("the parts of ranks are gathered and scattered rightly, however uneven they are") {
    for (int ranks = 1; ranks <= 17; ++ranks)
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
    for (int const ranks : {31, 48, 65}) {
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
    for (int const ranks : {1, 2, 3, 8, 13, 600})
        for (auto const& sizes : {one_long(ranks, 3'000'000), ramp(ranks, 1'000), ramp(ranks, 1),
                                  half_empty(ranks, 1), scattered(ranks)})
            for (auto const& link : {links[0], links[1]}) {
                auto const shape = shape_of(collective_kind::all_gather, ranks, 0, sizes);
                CAPTURE(ranks);
                CAPTURE(sizes);
                std::size_t sent = 0;
                std::size_t received = 0;
                bool once = true;
                for (auto const& plan : plans_of(papcoll::linear{}, shape, link)) {
                    auto const& program = plan.stages.at(1).program;
                    std::vector<int> arrivals(program.blocks.size());
                    for (auto const& use : program.receives.uses)
                        ++arrivals[static_cast<std::size_t>(use.block)];
                    for (std::size_t b = 0; b < arrivals.size(); ++b)
                        once =
                            once && arrivals[b] == (program.owned[b] || program.blocks[b].size == 0 ? 0 : 1);
                    for (auto const& m : program.sends.messages) sent += m.elements;
                    for (auto const& m : program.receives.messages) received += m.elements;
                }
                CHECK(once);
                CHECK(sent == received);
            }
}

TEST_CASE("what would be too long for a plan is cut when it is executed") {
    auto const shape = shape_of(collective_kind::all_gather, 8, std::size_t(1) << 30);
    auto const kept = std::make_shared<papcoll::message_program const>(
        papcoll::circulant{}.plan(shape, links[0]).stages[0].program);
    CHECK(kept->blocks.size() == 8);
    CHECK(kept->piece_elements == 32'768);
    auto const executed = papcoll::executable(kept);
    CHECK(executed->piece_elements == 0);
    CHECK(executed->blocks.size() == 32'768);
    CHECK(executed->held_bytes() > papcoll::plan_limit(8));
    for (auto const* side : {&executed->sends, &executed->receives}) {
        std::size_t elements = 0;
        bool cut = true;
        for (auto const& m : side->messages) {
            cut = cut && m.elements <= 32'768;
            elements += m.elements;
        }
        CHECK(cut);
        CHECK(elements == (std::size_t(7) << 27));
    }
    auto const short_one = std::make_shared<papcoll::message_program const>(
        papcoll::circulant{}
            .plan(shape_of(collective_kind::all_gather, 8, 1 << 20), links[0])
            .stages[0]
            .program);
    CHECK(papcoll::executable(short_one) == short_one); // cut already
    CHECK(short_one->blocks.size() == 32);
    CHECK(violation(papcoll::ring{}, shape_of(collective_kind::all_gather, 3, 300'000'000), links[0]) == "");
}
