// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// ranks: 1 2 3 5 8
// env.nodes: PAPCOLL_NODE_MEMORY=0
//
// Calls that learn, with the MPI library's own routines among the candidates.
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>
#include <doctest/doctest.h>
#include <mpi.h>

#include <cstddef>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

namespace {

papcoll::link_model const given_link{papcoll::ticks(1000), 0.1};

/// How many of these calls have something to learn: more than one candidate.
struct call_of {
    papcoll::collective_kind operation;
    std::size_t count;
};
auto shapes_to_learn(boost::mpi::communicator const& world, std::vector<call_of> const& calls)
    -> std::size_t {
    auto const context = papcoll::context_of(world);
    std::size_t result = 0;
    for (auto const& call : calls) {
        papcoll::call_shape shape{.operation = call.operation, .ranks = world.size(), .rank = world.rank()};
        shape.count = call.count;
        shape.element_bytes = sizeof(int);
        shape.nodes = context->nodes();
        shape.shared_bytes = context->shared_bytes();
        shape.exact = true;
        shape.has_native = true;
        if (papcoll::automatic{}.candidates(shape, given_link).size() > 1) ++result;
    }
    return world.size() == 1 ? 0 : result;
}

} // namespace

TEST_CASE("all collectives learn, with right results, and the same on all ranks") {
    boost::mpi::communicator const world(boost::mpi::communicator(), boost::mpi::comm_duplicate);
    papcoll::attach(world, {.link = given_link, .learn = true});
    int const p = world.size();
    auto const size = static_cast<std::size_t>(p);
    std::vector<int> const in(12 * size, world.rank() + 1);
    int const sum = p * (p + 1) / 2;
    std::vector<int> every(3 * size);
    for (std::size_t i = 0; i < every.size(); ++i) every[i] = static_cast<int>(i / 3) + 1;
    std::vector<int> longer(70'000); // than what ranks of a node share
    for (int i = 0; i < 24; ++i) {
        std::vector<int> out(12 * size, -1);
        papcoll::all_reduce(world, in.data(), in.size(), out.data(), std::plus<>());
        CHECK(out == std::vector<int>(out.size(), sum));
        papcoll::reduce(world, in.data(), 5, out.data(), std::plus<>(), p - 1);
        CHECK(out[0] == sum);
        std::vector<int> value(7, world.rank() == 0 ? i : -1);
        papcoll::broadcast(world, value.data(), value.size(), 0);
        CHECK(value == std::vector<int>(7, i));
        std::vector<int> gathered(3 * size, -1);
        papcoll::all_gather(world, in.data(), 3, gathered.data());
        CHECK(gathered == every);
        gathered.assign(3 * size, -1);
        papcoll::gather(world, in.data(), 3, gathered.data(), 0);
        if (world.rank() == 0) CHECK(gathered == every);
        papcoll::all_to_all(world, in.data(), 3, gathered.data());
        CHECK(gathered == every);
        std::vector<int> const sizes(size, 4);
        papcoll::reduce_scatter(world, in.data(), sizes, out.data(), std::plus<>());
        CHECK(out[3] == sum);
        longer.back() = world.rank() == 0 ? i : -1;
        papcoll::broadcast(world, longer.data(), longer.size(), 0);
        CHECK(longer.back() == i);
    }
    auto const mine = papcoll::learned(world).text();
    std::vector<char> first(mine.begin(), mine.end());
    papcoll::broadcast(world, first.data(), first.size(), 0, papcoll::native{});
    CHECK(std::string(first.begin(), first.end()) == mine);
    using papcoll::collective_kind;
    auto const expected = shapes_to_learn(world, {{collective_kind::all_reduce, in.size()},
                                                  {collective_kind::reduce, 5},
                                                  {collective_kind::broadcast, 7},
                                                  {collective_kind::all_gather, every.size()},
                                                  {collective_kind::gather, every.size()},
                                                  {collective_kind::all_to_all, every.size()},
                                                  {collective_kind::reduce_scatter, 4 * size},
                                                  {collective_kind::broadcast, longer.size()}});
    CHECK((p == 1 || expected > 0));
    CHECK(papcoll::tuning_table::parse(mine).entries().size() == expected);
}

TEST_CASE("what was learned can be used as a table") {
    boost::mpi::communicator const world(boost::mpi::communicator(), boost::mpi::comm_duplicate);
    papcoll::attach(world, {.link = given_link, .learn = true});
    int value = world.rank();
    for (int i = 0; i < 24; ++i) papcoll::broadcast(world, value, 0);
    auto const table = std::make_shared<papcoll::tuning_table const>(papcoll::learned(world));
    boost::mpi::communicator const other(world, boost::mpi::comm_duplicate);
    int again = world.rank() == 0 ? 5 : 0;
    papcoll::broadcast(other, again, 0, papcoll::automatic{.table = table});
    CHECK(again == 5);
}
