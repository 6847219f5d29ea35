// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// Who chooses the algorithm: without a policy papcoll does, and you may override it from outside,
//
//     mpirun -n 5 -x PAPCOLL_REPORT=1 09_choosing
//     mpirun -n 5 -x PAPCOLL_REPORT=1 -x PAPCOLL_REDUCE_ALGORITHM=binomial_tree 09_choosing
//     mpirun -n 5 -x PAPCOLL_REPORT=1 -x PAPCOLL_TUNING_FILE=tuning.json 09_choosing
//
// or from inside, by a table. An observer sees how long each operation took.
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>

#include <functional>
#include <iostream>
#include <memory>
#include <vector>

auto main(int argc, char** argv) -> int {
    boost::mpi::environment const environment(argc, argv);
    boost::mpi::communicator const world;
    papcoll::observe(world, [&](papcoll::collective_record const& seen) {
        if (world.rank() == 0)
            std::cout << seen.operation << " of " << seen.bytes << " bytes took "
                      << (seen.exit - seen.entry).count() / 1000 << " us\n";
    });

    std::vector<float> const values(100'000, 1.0F);
    std::vector<float> sum(values.size());
    papcoll::reduce(world, values.data(), values.size(), sum.data(), std::plus<>{}, 0);

    // What bench/tune.py writes from measurements; here by hand. All ranks must have the same.
    auto const table = std::make_shared<papcoll::tuning_table const>(papcoll::tuning_table::parse(R"(
        {"papcoll_tuning": 1, "choices": [
            {"operation": "all_reduce", "ranks": 8, "bytes": 1024, "policy": "native"},
            {"operation": "all_reduce", "ranks": 8, "bytes": 1048576, "policy": "circulant", "block_bytes": 16384}]}
    )"));
    papcoll::all_reduce(world, values.data(), values.size(), sum.data(), std::plus<>{},
                        papcoll::automatic{.table = table});

    bool const right = sum.front() == static_cast<float>(world.size());
    if (world.rank() == 0) std::cout << (right ? "the sum is right\n" : "the sum is wrong\n");
    return right ? 0 : 1;
}
