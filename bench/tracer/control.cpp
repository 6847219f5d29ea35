// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "control.hpp"

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <unistd.h>

#include "communicators.hpp"
#include "recorder.hpp"
#include "synchronise.hpp"

namespace tracer {

namespace {

/// For the clocks; made before anything is recorded.
auto messages() -> std::optional<papcoll::mpi_transport>& {
    static auto& the_one = *new std::optional<papcoll::mpi_transport>; // programs may end in many ways
    return the_one;
}

/// Programs that others spawned have an MPI_COMM_WORLD, and so ranks and files, like their parents'.
auto is_spawned() -> bool {
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    return parent != MPI_COMM_NULL;
}

/// Rank 0's time and process, the same on all ranks.
auto name_run() -> std::uint64_t {
    auto const now = std::chrono::system_clock::now().time_since_epoch();
    auto run = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()) ^
               static_cast<std::uint64_t>(::getpid()) << 40;
    PMPI_Bcast(&run, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    return run;
}

auto environment(char const* variable) -> char const* { return std::getenv(variable); }

} // namespace

void begin() {
    if (messages() || is_spawned()) return; // Fortran's MPI_Init may call C's
    auto& all = recorder::instance();
    int rank = 0;
    int ranks = 1;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    begin_communicators();
    messages().emplace(MPI_COMM_WORLD);
    auto const run = name_run();
    enum { failed, records, answers };
    int said[answers] = {};
    settings wanted;
    try {
        wanted = read_settings(environment, rank);
        all.open(wanted, rank, ranks, run);
        said[records] = wanted.records ? 1 : 0;
    } catch (std::exception const& error) {
        std::fprintf(stderr, "papcoll tracer: rank %d: %s\n", rank, error.what());
        said[failed] = 1;
    }
    // All say what is wrong before the first one ends the program.
    PMPI_Allreduce(MPI_IN_PLACE, said, answers, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (said[failed] != 0) PMPI_Abort(MPI_COMM_WORLD, 2);
    if (said[records] == 0 && rank == 0)
        std::fprintf(stderr,
                     "papcoll tracer: PAPCOLL_TRACE_RANKS names none of the %d ranks: nothing is recorded\n",
                     ranks);
    all.skew_clock(wanted);
    all.add(synchronise(*messages(), all.clock()));
}

void interrupt() { recorder::instance().flush(); }

void end() {
    if (!messages()) return;
    auto& all = recorder::instance();
    all.add(synchronise(*messages(), all.clock()));
    messages().reset();
    all.close();
}

} // namespace tracer

extern "C" {

int MPI_Init(int* argc, char*** argv) {
    int const result = PMPI_Init(argc, argv);
    if (result == MPI_SUCCESS) tracer::begin();
    return result;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    int const result = PMPI_Init_thread(argc, argv, required, provided);
    if (result == MPI_SUCCESS) tracer::begin();
    return result;
}

int MPI_Abort(MPI_Comm comm, int code) {
    tracer::interrupt();
    return PMPI_Abort(comm, code);
}

int MPI_Finalize() {
    tracer::end();
    return PMPI_Finalize();
}

/// include/papcoll/context/observer.hpp documents it. papcoll numbers its operations on a communicator
/// itself, and apart from MPI's: they may complete in different orders on different ranks.
__attribute__((visibility("default"))) void papcoll_trace_record(char const* operation, int communicator,
                                                                 std::size_t bytes, std::uint64_t sequence,
                                                                 std::int64_t entry_ns, std::int64_t exit_ns,
                                                                 void const* call_site) {
    auto& all = tracer::recorder::instance();
    if (!all.is_active() || !all.is_sampled(sequence)) return;
    MPI_Comm const comm = PMPI_Comm_f2c(static_cast<MPI_Fint>(communicator));
    if (comm == MPI_COMM_NULL || comm == MPI_Comm{})
        return; // freed meanwhile: Open MPI says so by a null pointer
    auto& found = tracer::communicator_of(comm);
    if (found.is_left_out) return;
    auto const* const name = all.kept(std::string("papcoll.") + operation);
    all.add(found,
            {name, call_site, sequence, bytes, all.clock().skewed(entry_ns), all.clock().skewed(exit_ns)});
}

} // extern "C"
