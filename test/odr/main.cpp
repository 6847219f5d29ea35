// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include <cstdio>
#include <vector>

#include "reduce_schedule.hpp"

int main() {
    constexpr int skipped = 77;
    if (!__builtin_cpu_supports("avx2")) return skipped;
    if (plain::lane_bytes() >= avx2::lane_bytes()) {
        std::puts("both translation units use the same lanes: nothing is tested");
        return 1;
    }
    for (int const ranks : {1, 2, 7, 33, 130}) {
        std::vector<papcoll::ticks> arrivals;
        for (int rank = 0; rank < ranks; ++rank) arrivals.emplace_back(rank * 7919 % 1009);
        papcoll::problem const p{.ranks = ranks, .root = ranks / 2, .blocks = 150, .arrivals = arrivals};
        auto const expected = plain::reduce_schedule(p);
        if (expected != avx2::reduce_schedule(p) || expected != plain::tree_schedule(p) ||
            expected != avx2::tree_schedule(p)) {
            std::printf("schedules differ at %d ranks\n", ranks);
            return 1;
        }
    }
}
