// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// env.single: PAPCOLL_TEST_THREADS=single
// env.eager: OMPI_MCA_btl_vader_eager_limit=256 OMPI_MCA_btl_self_eager_limit=256
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>

#include "../../support/mixed_suite.hpp"

namespace mpi = boost::mpi;

TEST_CASE("different collectives under way together") {
    mpi::communicator const world;
    mixed_suite::lengths(world, world.rank(), world.size(), {0, 1, 300});
}

TEST_CASE("long messages, admitted, cut at blocks and with a tail behind the head") {
    mpi::communicator const world;
    mixed_suite::lengths(world, world.rank(), world.size(), {5'000});
}

TEST_CASE("collectives of several communicators under way together") {
    mpi::communicator const world;
    auto const part = world.split(world.rank() % 2, -world.rank());
    papcoll::attach(world);
    papcoll::attach(part);
    std::vector<double> mine(3000, world.rank()), sum(3000), theirs(3000);
    auto a = papcoll::iall_reduce(world, mine.data(), 3000, sum.data(), std::plus<>(), papcoll::circulant{});
    auto b =
        papcoll::iall_reduce(part, mine.data(), 3000, theirs.data(), std::plus<>(), papcoll::circulant{});
    if (world.rank() % 3 == 0) b.wait();
    a.wait();
    b.wait();
    int const ranks = world.size();
    double expected = 0;
    for (int r = world.rank() % 2; r < ranks; r += 2) expected += r;
    CHECK(sum == std::vector<double>(3000, ranks * (ranks - 1) / 2));
    CHECK(theirs == std::vector<double>(3000, expected));
}
