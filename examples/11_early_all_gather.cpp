// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// A split-phase all-gather that a monitor tells when the ranks will arrive: it begins with the iteration,
// waits in the background for the predictions of this iteration, and moves the data of early ranks while late
// ones still compute. Run it with mpirun.
#include <papcoll/collective/open_all_gather.hpp>
#include <papcoll/monitor.hpp>
#include <papcoll/papcoll.hpp>
#include <papcoll/policy/background_circulant.hpp>

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <thread>
#include <vector>

namespace mpi = boost::mpi;
using namespace std::chrono_literals;

auto main(int argc, char** argv) -> int {
    // With this level threads of papcoll's exchange the predictions and move the data. With a lower one both
    // happen inside calls of papcoll's.
    mpi::environment const environment(argc, argv, mpi::threading::multiple);
    mpi::communicator const world;
    papcoll::attach(world); // before calls that do not block

    // Each rank takes another time in each iteration, so reports tell more than earlier iterations.
    papcoll::arrival_monitor monitor(world, {.patience = 1s});
    constexpr std::size_t n = 50'000;
    std::vector<double> all;
    bool right = true;

    for (int iteration = 0; iteration < 5; ++iteration) {
        papcoll::arrival_source const arrivals = monitor; // a question, the same one on all ranks
        auto gathering =
            papcoll::open_all_gather(world, all, n, papcoll::background_circulant{.arrivals = arrivals});

        bool const late = world.rank() == iteration % world.size();
        auto const half = late ? 20ms : 3ms;
        monitor.computation_begin();
        std::this_thread::sleep_for(half); // stands for work
        monitor.progress(0.5);             // now the end can be predicted
        std::this_thread::sleep_for(half);
        std::vector<double> const mine(n, world.rank() + iteration);

        gathering.contribute(mine.data()); // the computation ends here
        gathering.wait();

        for (std::size_t i = 0; i < all.size(); ++i)
            right = right && all[i] == static_cast<double>(i / n) + iteration;
        right = right && arrivals.given();
        if (world.rank() != 0 || !arrivals.given()) continue;
        auto const [first, last] = std::minmax_element(arrivals.times().begin(), arrivals.times().end());
        std::cout << "iteration " << iteration << ": rank " << last - arrivals.times().begin()
                  << " was expected last, " << (*last - *first).count() / 1'000'000
                  << " ms after the first\n";
    }
    if (world.rank() == 0) std::cout << (right ? "everything is there\n" : "something is missing\n");
    return right ? 0 : 1;
}
