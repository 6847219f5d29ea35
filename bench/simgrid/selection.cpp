// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// One algorithm of SMPI under the arrival patterns: selection OPERATION SEED BYTES[:SKEW_NS]..., where the
// algorithm is given by --cfg=smpi/OPERATION:ALGORITHM. Of each BYTES there is a line "BYTES 0 NO_DELAY", of
// each BYTES:SKEW_NS a line "BYTES SKEW_NS NO_DELAY ASCENDING ..." of last delays in nanoseconds, in the
// order of papcoll::all_arrival_shapes(). selection.py runs it.
//
// Data is not moved: SMPI leaves that out while it replays traces, which this program says it does. So 1024
// ranks exchange 1 GiB each in one process of a few hundred MB. Ranks share globals:
// --cfg=smpi/privatization:no.
#include <papcoll/analysis/metrics.hpp>
#include <papcoll/arrival/patterns.hpp>

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <simgrid/s4u/Actor.hpp>
#include <smpi/smpi.h>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <vector>

namespace {

using papcoll::ticks;

struct shared_state {
    std::vector<ticks> arrivals, exits; // of all ranks in the last call
    ticks latest{0};                    // when a rank came last
    char* buffer = nullptr;             // of all ranks; nothing is read or written in it that counts
    std::size_t buffer_bytes = 0;
};

auto shared() -> shared_state& {
    static shared_state the_one;
    return the_one;
}

auto now() -> ticks { return ticks{std::llround(MPI_Wtime() * 1e9)}; }

void sleep_until(ticks when) {
    auto const left = (when - now()).count();
    if (left <= 0) return;
    timespec const time{left / 1'000'000'000, left % 1'000'000'000};
    nanosleep(&time, nullptr);
}

/// Long after the last rank is here, and the same on all: none leaves the second barrier before all have
/// come.
auto agreed_start() -> ticks {
    MPI_Barrier(MPI_COMM_WORLD);
    shared().latest = std::max(shared().latest, now());
    MPI_Barrier(MPI_COMM_WORLD);
    return shared().latest + std::chrono::seconds(1);
}

void call(std::string const& operation, int bytes) {
    auto* const in = shared().buffer;
    auto* const out = in + shared().buffer_bytes / 2;
    if (operation == "reduce")
        MPI_Reduce(in, out, bytes, MPI_BYTE, MPI_BOR, 0, MPI_COMM_WORLD);
    else if (operation == "allreduce")
        MPI_Allreduce(in, out, bytes, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
    else if (operation == "alltoall")
        MPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, MPI_COMM_WORLD);
    else
        throw std::invalid_argument("no operation " + operation);
}

/// The last delay of one call, on rank 0.
auto measure(std::string const& operation, int bytes, std::vector<ticks> const& delays, int rank) -> ticks {
    auto const mine = static_cast<std::size_t>(rank);
    sleep_until(agreed_start() + delays[mine]);
    shared().arrivals[mine] = now();
    call(operation, bytes);
    shared().exits[mine] = now();
    MPI_Barrier(MPI_COMM_WORLD);
    return papcoll::last_delay(shared().arrivals, shared().exits);
}

/// The same for all ranks.
void allocate(int ranks, int bytes) {
    auto& all = shared();
    if (all.buffer != nullptr) return;
    all.arrivals.resize(static_cast<std::size_t>(ranks));
    all.exits.resize(static_cast<std::size_t>(ranks));
    all.buffer_bytes = 2 * static_cast<std::size_t>(ranks) * static_cast<std::size_t>(bytes) + 8192;
    void* const memory = mmap(nullptr, all.buffer_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no address space");
    all.buffer = static_cast<char*>(memory);
}

struct task {
    int bytes;
    std::optional<ticks> skew;

    explicit task(std::string const& text)
        : bytes(std::stoi(text)) {
        if (auto const colon = text.find(':'); colon != std::string::npos)
            skew = ticks{std::stoll(text.substr(colon + 1))};
    }
};

/// Some algorithms make communicators in their first calls, and need the data of those calls for that.
void warm_up(std::string const& operation, int rank, int ranks) {
    std::vector<ticks> const together(static_cast<std::size_t>(ranks));
    for (int i = 0; i < 2; ++i) (void)measure(operation, 1, together, rank);
    auto const* const self = simgrid::s4u::Actor::self();
    smpi_replay_init(self->get_property("instance_id"), rank, 0); // moves no data from here on
}

void run(std::string const& operation, task const& t, std::uint64_t seed, int rank, int ranks) {
    auto line = std::to_string(t.bytes) + ' ' + std::to_string(t.skew.value_or(ticks{0}).count());
    for (auto const shape : papcoll::all_arrival_shapes()) {
        bool const balanced = shape == papcoll::arrival_shape::no_delay;
        if (!balanced && !t.skew) continue;
        auto const delays = papcoll::arrival_pattern(shape, ranks, t.skew.value_or(ticks{0}), seed);
        line += ' ' + std::to_string(measure(operation, t.bytes, delays, rank).count());
    }
    if (rank != 0) return;
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
}

} // namespace

auto main(int argc, char** argv) -> int {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 4) return 2;
    std::string const operation = argv[1];
    auto const seed = std::stoull(argv[2]);
    std::vector<task> const tasks(argv + 3, argv + argc);
    int most = 1;
    for (auto const& t : tasks) most = std::max(most, t.bytes);
    allocate(ranks, most);
    warm_up(operation, rank, ranks);
    for (auto const& t : tasks) run(operation, t, seed, rank, ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
