// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// Ranks as threads of one process: for trying things out, for unit tests and for debuggers, without mpirun.
#include <papcoll/core.hpp>
#include <papcoll/threads.hpp>

#include <atomic>
#include <functional>
#include <iostream>
#include <vector>

auto main() -> int {
    constexpr int ranks = 7;
    constexpr int root = 3;
    std::atomic<bool> right = false;

    // Each thread gets an endpoint, which stands where a communicator stands.
    papcoll::threads::run(ranks, [&](papcoll::threads::endpoint& self) {
        std::vector<long> const values(10'000, self.rank());
        std::vector<long> sum;
        papcoll::reduce(self, values, sum, std::plus<>{}, root, papcoll::clairvoyant{.segments = 8});
        if (self.rank() == root) right = sum == std::vector<long>(values.size(), ranks * (ranks - 1) / 2);
    });

    // The same with messages delivered late and in an order drawn from a seed: what a race would show up in.
    papcoll::threads::run(ranks, {.eager_limit = 0, .seed = 42}, [&](papcoll::threads::endpoint& self) {
        long sum = 0;
        papcoll::reduce(self, long{self.rank()}, sum, std::plus<>{}, root, papcoll::clairvoyant{});
        if (self.rank() == root) right = right && sum == ranks * (ranks - 1) / 2;
    });

    std::cout << (right ? "both sums are right\n" : "a sum is wrong\n");
    return right ? 0 : 1;
}
