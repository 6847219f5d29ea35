// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

// killed.program short|long|begun: all-reductions through shared memory, until the last rank kills itself by
// a signal that nothing can catch, from within its operator, while the others wait for it. Each rank prints
// `rank <pid>` before and `memory` once it has seen the segment that it shares.

namespace mpi = boost::mpi;

namespace {

/// Whether this process has papcoll's memory mapped.
auto has_segment() -> bool {
    std::FILE* const maps = std::fopen("/proc/self/maps", "r");
    if (maps == nullptr) return false;
    bool found = false;
    char line[512];
    while (std::fgets(line, sizeof line, maps) != nullptr)
        found = found || std::string(line).find("memfd:papcoll") != std::string::npos;
    (void)std::fclose(maps);
    return found;
}

} // namespace

int main(int argc, char** argv) {
    mpi::environment const environment(argc, argv);
    mpi::communicator const world;
    std::string const how = argc > 1 ? argv[1] : "short";
    papcoll::attach(world);
    std::printf("rank %ld\n%s\n", static_cast<long>(::getpid()), has_segment() ? "memory" : "no memory");
    (void)std::fflush(stdout);
    std::vector<int> const in(how == "short" ? 3 : 500'000, 1);
    std::vector<int> out(in.size());
    bool dies = false;
    auto const sum = papcoll::commutative([&](int a, int b) {
        if (dies && ::kill(::getpid(), SIGKILL) != 0) std::perror("kill");
        return a + b;
    });
    for (int i = 0;; ++i) {
        // What is printed gets out before mpirun hears of the death.
        if (i == 40) std::this_thread::sleep_for(std::chrono::milliseconds(300));
        dies = i == 40 && world.rank() == world.size() - 1;
        if (how == "begun")
            papcoll::iall_reduce(world, in.data(), in.size(), out.data(), sum, papcoll::shared_memory{})
                .wait();
        else
            papcoll::all_reduce(world, in, out, sum, papcoll::shared_memory{});
    }
}
