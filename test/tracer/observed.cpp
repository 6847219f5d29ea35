// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// Reports operations as papcoll does, through the observer's interface; ranks complete them in different
// orders.
#include <papcoll/context/observer.hpp>

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string_view>

namespace {

using papcoll::ticks;

/// Operation `number` begins at the second of this number, rank by rank 1 ms later, and takes a second.
[[gnu::noinline]] auto operation(std::uint64_t number, ticks origin, int rank) -> papcoll::collective_record {
    papcoll::collective_record record;
    record.operation = std::string_view("all_reduced").substr(0, 10); // not terminated by a zero
    record.bytes = 24;
    record.sequence = number;
    record.entry = origin + std::chrono::seconds(number) + std::chrono::milliseconds(rank);
    record.exit = record.entry + std::chrono::seconds(1);
    record.call_site = __builtin_return_address(0);
    return record;
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    auto const now = std::chrono::duration_cast<ticks>(std::chrono::steady_clock::now().time_since_epoch());
    auto origin = now.count(); // all ranks run on one machine, so on one clock
    MPI_Bcast(&origin, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    auto const observe = papcoll::tracer_observer(static_cast<int>(MPI_Comm_c2f(MPI_COMM_WORLD)));
    if (rank == 0) std::puts(observe ? "observed" : "not observed");
    for (std::uint64_t i = 0; observe && i < 4; ++i)
        observe(operation(rank % 2 == 0 ? i : 3 - i, ticks(origin), rank));
    MPI_Finalize();
}
