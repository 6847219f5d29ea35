// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// The first call: a sum over all ranks, some of which come late and are known to.
//
//     mpirun -n 5 01_first_call
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>

#include <chrono>
#include <functional>
#include <iostream>
#include <thread>
#include <vector>

auto main(int argc, char** argv) -> int {
    using namespace std::chrono_literals;
    boost::mpi::environment const environment(argc, argv);
    boost::mpi::communicator const world;

    // When each rank will arrive, from any origin. All ranks must pass the same vector; a wrong guess costs
    // time, never correctness.
    std::vector<papcoll::ticks> arrivals;
    for (int rank = 0; rank < world.size(); ++rank) arrivals.push_back(rank * 20ms);

    std::vector<float> const values(100'000, static_cast<float>(world.rank() + 1));
    std::vector<float> sum;
    std::this_thread::sleep_for(arrivals[static_cast<std::size_t>(world.rank())]); // the work before the call

    // As boost::mpi::reduce, and a policy behind: early ranks combine while late ones are still away.
    papcoll::reduce(world, values, sum, std::plus<>{}, 0, papcoll::clairvoyant{.arrivals = arrivals});

    if (world.rank() != 0) return 0;
    auto const expected = static_cast<float>(world.size() * (world.size() + 1) / 2);
    std::cout << "every element is " << sum.front() << ", as it should be: " << expected << '\n';
    return sum == std::vector<float>(values.size(), expected) ? 0 : 1;
}
