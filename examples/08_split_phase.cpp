// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// A split-phase all-gather: each rank joins before it has its own data. While some still compute, the data of
// those that are ready moves, through the late ones, too. Run it with mpirun.
#include <papcoll/collective/open_all_gather.hpp>
#include <papcoll/papcoll.hpp>
#include <papcoll/policy/background_circulant.hpp>

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>

#include <chrono>
#include <iostream>
#include <thread>
#include <vector>

namespace mpi = boost::mpi;
using namespace std::chrono_literals;

auto main(int argc, char** argv) -> int {
    // With this level a thread of papcoll's moves the data. With a lower one the same happens inside test()
    // and wait().
    mpi::environment const environment(argc, argv, mpi::threading::multiple);
    mpi::communicator const world;

    // When each rank will be ready: the same on all ranks. Wrong times would cost time, nothing else.
    std::vector<papcoll::ticks> ready;
    for (int rank = 0; rank < world.size(); ++rank) ready.emplace_back(rank == 1 ? 40ms : 2ms);

    constexpr std::size_t n = 50'000;
    std::vector<double> all;
    papcoll::attach(world); // before calls that do not block
    auto gathering =
        papcoll::open_all_gather(world, all, n, papcoll::background_circulant{.arrivals = ready});

    std::this_thread::sleep_for(ready[static_cast<std::size_t>(world.rank())]); // the computation
    std::vector<double> const mine(n, world.rank());

    gathering.contribute(mine.data()); // now this rank is ready; `mine` may be used again
    gathering.wait();                  // and now `all` is complete

    bool right = true;
    for (std::size_t i = 0; i < all.size(); ++i) right = right && all[i] == static_cast<double>(i / n);
    if (world.rank() == 0) std::cout << (right ? "everything is there\n" : "something is missing\n");
    return right ? 0 : 1;
}
