// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/papcoll.hpp>

#include <boost/mpi.hpp>

#include <cstdio>
#include <functional>

int main() {
    boost::mpi::environment const environment;
    boost::mpi::communicator const world;
    int const rank = world.rank();
    int sum = 0;
    papcoll::reduce(world, &rank, 1, &sum, std::plus<>{}, 0, papcoll::clairvoyant{});
    if (rank == 0) std::printf("papcoll example: %d ranks, sum %d\n", world.size(), sum);
    return rank != 0 || sum == world.size() * (world.size() - 1) / 2 ? 0 : 1;
}
