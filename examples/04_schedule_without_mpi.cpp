// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// Schedules are plain data: made, printed and verified here without a communicator, or any MPI at all.
#include <papcoll/analysis/verify.hpp>
#include <papcoll/scheduler/clairvoyant.hpp>

#include <chrono>
#include <iomanip>
#include <iostream>
#include <vector>

auto main() -> int {
    using namespace std::chrono_literals;

    // Five ranks reduce four blocks to rank 0. Rank 3 is three rounds late, rank 1 eight.
    std::vector<papcoll::ticks> const arrivals{0ms, 8ms, 0ms, 3ms, 0ms};
    papcoll::problem const problem{.ranks = 5, .root = 0, .blocks = 4, .arrivals = arrivals};
    papcoll::clairvoyant_scheduler<> const scheduler{.round = 1ms};
    auto const schedule = papcoll::transfers(scheduler, problem);

    // A row per transfer, in the order of the rounds: from, to, and the block that is given away.
    std::cout << " round | from to | block\n-------+---------+------\n";
    for (auto const& t : schedule)
        std::cout << std::setw(6) << t.step << " | " << std::setw(4) << t.from << std::setw(3) << t.to
                  << " | " << std::setw(5) << t.block << '\n';

    // The same question that tests ask of every scheduler: does each contribution reach the root exactly
    // once?
    auto const violation = papcoll::verify_reduction(schedule, problem);
    std::cout << '\n' << violation.value_or("verified: every contribution reaches the root once") << '\n';
    return violation ? 1 : 0;
}
