// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>

#include "../../support/operators_suite.hpp"
#include "../../support/own_schedulers.hpp"

namespace mpi = boost::mpi;
using operators_suite::modular_sum;

namespace {

auto wrapped(modular_sum op) { return papcoll::commutative(op); }

} // namespace

TEST_CASE("operators of one's own in all reductions") {
    mpi::communicator const world;
    auto const test = [&](auto const& policy) {
        operators_suite::all_reductions(world, world.rank(), world.size(), policy, wrapped(modular_sum{97}));
    };
    test(papcoll::circulant{});
    test(papcoll::circulant{.block_bytes = 80});
    test(own_schedulers::to_the_owners{});
    test(papcoll::native{});
}

TEST_CASE("operators that throw end the call, and communication goes on") {
    mpi::communicator const world;
    operators_suite::throwing(world, world.rank(), world.size(), papcoll::circulant{}, wrapped);
}

TEST_CASE("operators that do not commute") {
    mpi::communicator const world;
    operators_suite::rank_order(world, world.rank(), world.size(), operators_suite::down_to_0{});
    operators_suite::rank_order(world, world.rank(), world.size(), papcoll::native{});
}
