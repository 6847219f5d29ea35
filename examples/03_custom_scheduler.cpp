// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// A scheduler of one's own: a chain, in which each rank adds its values to what comes from the rank behind it
// and passes the sum on, block after block. It is checked before it is used, by a symbolic execution.
//
//     mpirun -n 5 03_custom_scheduler
#include <papcoll/analysis.hpp>
#include <papcoll/analysis/verify.hpp>
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>

#include <functional>
#include <iostream>
#include <vector>

// A scheduler is a kind and a pure function: which blocks one rank sends and receives, in step order.
struct chain_scheduler {
    static constexpr auto kind = papcoll::schedule_kind::reduction;

    // The root is place 0 of the chain. Place k sends block b in step (ranks − 1 − k) + b, one step after it
    // received the block from place k + 1: all links are busy at once.
    [[nodiscard]] auto for_rank(papcoll::problem const& p, int rank) const -> papcoll::rank_schedule {
        int const place = (rank - p.root + p.ranks) % p.ranks;
        int const first_send = p.ranks - 1 - place;
        papcoll::rank_schedule mine;
        for (int block = 0; block < p.blocks; ++block) {
            if (place > 0) mine.sends.push_back({first_send + block, (rank + p.ranks - 1) % p.ranks, block});
            if (place < p.ranks - 1)
                mine.receives.push_back({first_send - 1 + block, (rank + 1) % p.ranks, block});
        }
        return mine;
    }
};

auto main(int argc, char** argv) -> int {
    boost::mpi::environment const environment(argc, argv);
    boost::mpi::communicator const world;
    chain_scheduler const chain;

    papcoll::problem const problem{.ranks = world.size(), .root = 1 % world.size(), .blocks = 16};
    if (auto const violation = papcoll::verify_reduction(papcoll::transfers(chain, problem), problem)) {
        std::cerr << "not a reduction: " << *violation << '\n';
        return 1;
    }

    // It stands where a policy stands.
    std::vector<int> const values(1'000'000, world.rank());
    std::vector<int> sum;
    papcoll::reduce(world, values, sum, std::plus<>{}, problem.root, chain);

    if (world.rank() != problem.root) return 0;
    std::cout << "through the chain: " << sum.front() << '\n';
    return sum == std::vector<int>(values.size(), world.size() * (world.size() - 1) / 2) ? 0 : 1;
}
