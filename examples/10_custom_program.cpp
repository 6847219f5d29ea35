// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// An algorithm of one's own that is no schedule of blocks: rank 0 takes in everybody's values, in the order
// of ranks, and tells the sum. Each rank writes down what it does, one instruction after the other; papcoll
// finds out what may overlap, checks the programs of all ranks, and runs them.
//
//     mpirun -n 5 10_custom_program
#include <papcoll/analysis.hpp>
#include <papcoll/analysis/verify_program.hpp>
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>

#include <cstdint>
#include <functional>
#include <iostream>
#include <optional>
#include <string_view>
#include <vector>

// A policy: which collectives it serves, and the program of one rank.
struct star {
    static constexpr bool reorders_operands = false;
    static constexpr auto provides(papcoll::collective_kind operation) -> bool {
        return operation == papcoll::collective_kind::all_reduce;
    }

    [[nodiscard]] auto name() const -> std::string_view { return "star"; }
    void check(papcoll::call_shape const&) const {}
    [[nodiscard]] auto fingerprint() const -> std::optional<std::vector<std::int64_t>> { return {{}}; }

    [[nodiscard]] auto plan(papcoll::call_shape const& shape, papcoll::link_model const&) const
        -> papcoll::program {
        using papcoll::memory, papcoll::region;
        region const mine(memory::in, 0, shape.count);
        region const result(memory::out, 0, shape.count);
        papcoll::program_builder to(shape.in_place);
        if (shape.rank > 0) {
            to.send(0, mine);
            to.receive(0, result);
            return to.finish();
        }
        to.copy(result, mine);
        for (int rank = 1; rank < shape.ranks; ++rank) {
            auto const theirs = to.scratch(shape.count);
            to.receive(rank, theirs);
            to.combine(result, result, theirs); // rank 0 on the left: the order of ranks
        }
        for (int rank = 1; rank < shape.ranks; ++rank) to.send(rank, result);
        return to.finish();
    }
};

auto main(int argc, char** argv) -> int {
    boost::mpi::environment const environment(argc, argv);
    boost::mpi::communicator const world;
    std::vector<int> const values(1000, world.rank());

    // Without MPI: what all ranks would do keeps the promise of an all-reduce, however it is timed.
    std::vector<papcoll::program> programs;
    for (int rank = 0; rank < world.size(); ++rank)
        programs.push_back(star{}.plan({.operation = papcoll::collective_kind::all_reduce,
                                        .ranks = world.size(),
                                        .rank = rank,
                                        .count = values.size(),
                                        .element_bytes = sizeof(int)},
                                       {}));
    auto const promised = papcoll::promise_of(world.size()).in_rank_order().all_reduce(values.size());
    if (auto const violation = papcoll::verify(programs, promised)) {
        std::cerr << "not an all-reduce: " << *violation << '\n';
        return 1;
    }

    std::vector<int> sum;
    papcoll::all_reduce(world, values, sum, std::plus<>{}, star{});

    if (world.rank() == 0) std::cout << "by way of rank 0: " << sum.front() << '\n';
    return sum == std::vector<int>(values.size(), world.size() * (world.size() - 1) / 2) ? 0 : 1;
}
