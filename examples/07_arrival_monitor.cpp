// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// The program tells a monitor how far its computation is; the monitor's background thread finds out when all
// ranks will arrive, and the reduction uses that: early ranks combine what they have while the late one still
// computes. Run it with mpirun.
#include <papcoll/monitor.hpp>
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>

#include <chrono>
#include <functional>
#include <iostream>
#include <thread>
#include <vector>

namespace mpi = boost::mpi;
using namespace std::chrono_literals;

auto main(int argc, char** argv) -> int {
    // With this level the monitor has a thread. With a lower one the same happens inside the calls to it.
    mpi::environment const environment(argc, argv, mpi::threading::multiple);
    mpi::communicator const world;
    int const root = 0, late = world.size() - 1;

    papcoll::arrival_monitor monitor(world);
    std::vector<double> const values(100'000, world.rank());
    std::vector<double> sum(values.size());
    bool right = true;

    for (int iteration = 0; iteration < 5; ++iteration) {
        auto const half = world.rank() == late ? 10ms : 3ms;
        monitor.computation_begin();
        std::this_thread::sleep_for(half); // stands for work
        monitor.progress(0.5);             // now the end can be predicted
        std::this_thread::sleep_for(half);
        monitor.computation_end();

        papcoll::arrival_source const arrivals = monitor; // one answer per iteration, the same on all ranks
        papcoll::reduce(world, values.data(), values.size(), sum.data(), std::plus<>{}, root,
                        papcoll::clairvoyant{.arrivals = arrivals});

        if (world.rank() != root) continue;
        right = right && arrivals.given() &&
                sum == std::vector<double>(values.size(), world.size() * (world.size() - 1) / 2);
        if (!arrivals.given()) continue; // then there are no times
        auto const spread = arrivals.times()[static_cast<std::size_t>(late)] - arrivals.times()[0];
        std::cout << "iteration " << iteration << ": rank " << late << " was expected "
                  << spread.count() / 1'000'000 << " ms after rank 0\n";
    }
    if (world.rank() != root) return 0;
    std::cout << (right ? "all sums are right\n" : "a sum is wrong\n");
    return right ? 0 : 1;
}
