// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// Paper 1, section 5: what the variants of Clairvoyant's search hold at a time, heaps 56 bytes for each cell.
#include <cstdio>
#include <malloc.h>
#include <stdexcept>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "contestants.hpp"
#include "schedule.hpp"

namespace bench {
namespace {

/// The most that a process of its own holds which runs this, in bytes.
template <class F>
auto most_held(F const& f) -> double {
    std::fflush(nullptr);
    malloc_trim(0); // the child would take from what is free
    pid_t const child = fork();
    if (child == 0) {
        f();
        _exit(0);
    }
    int status = 0;
    rusage used{};
    if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0)
        throw std::runtime_error("a search could not run in a process of its own");
    return static_cast<double>(used.ru_maxrss) * 1024;
}

} // namespace

void print_memory(std::vector<int> const& sizes) {
    std::printf("| P = N | search | MiB | bytes per cell of P × N |\n|---|---|---|---|\n");
    for (int const size : sizes) {
        auto const drawn = draw_instance(distribution::uniform, size, 0);
        double const before = most_held([] {});
        for (auto const& c : contestants) {
            if (size > c.largest) continue;
            double const held = most_held([&] { (void)c.run(drawn); }) - before;
            double const cells = static_cast<double>(size) * size;
            std::printf("| %d | %s | %.1f | %.3g |\n", size, c.name, held / (1 << 20), held / cells);
        }
    }
}

} // namespace bench
