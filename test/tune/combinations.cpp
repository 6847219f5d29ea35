// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
//
// A program that knows nothing of papcoll: MPI_Reduce and MPI_Allreduce of COUNT... doubles with an operator
// of its own. For each it prints how often each rank combined, which tells algorithms apart:
//
//     reduce 16 3 0 0 0
//     allreduce 16 2 2 2 2
//
// Then the same for a communicator of all ranks but the last: "smaller reduce 16 ...".
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

int combined = 0;

void add(void* in, void* out, int* count, MPI_Datatype*) {
    ++combined;
    for (int i = 0; i < *count; ++i) static_cast<double*>(out)[i] += static_cast<double*>(in)[i];
}

/// Prints what was counted on all ranks, and ends the program if a result is wrong.
void report(MPI_Comm comm, std::string const& call, std::vector<double> const& result, bool has_result) {
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (auto const value : result)
        if (has_result && static_cast<int>(value) != ranks) {
            std::fprintf(stderr, "%s is wrong\n", call.c_str());
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    std::vector<int> all(static_cast<std::size_t>(ranks));
    int const mine = combined;
    MPI_Gather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, 0, comm);
    combined = 0;
    if (rank != 0) return;
    auto line = call;
    for (int const each : all) line += ' ' + std::to_string(each);
    std::puts(line.c_str());
}

void run(MPI_Comm comm, MPI_Op op, int count, std::string const& prefix) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    std::vector<double> const in(static_cast<std::size_t>(count), 1.0);
    std::vector<double> out(in.size());
    MPI_Reduce(in.data(), out.data(), count, MPI_DOUBLE, op, 0, comm);
    report(comm, prefix + "reduce " + std::to_string(count), out, rank == 0);
    MPI_Allreduce(in.data(), out.data(), count, MPI_DOUBLE, op, comm);
    report(comm, prefix + "allreduce " + std::to_string(count), out, true);
}

} // namespace

auto main(int argc, char** argv) -> int {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(&add, 1, &op);
    MPI_Comm smaller = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank < ranks - 1 ? 0 : MPI_UNDEFINED, rank, &smaller);
    for (int i = 1; i < argc; ++i) run(MPI_COMM_WORLD, op, std::atoi(argv[i]), "");
    for (int i = 1; i < argc && smaller != MPI_COMM_NULL; ++i)
        run(smaller, op, std::atoi(argv[i]), "smaller ");
    if (smaller != MPI_COMM_NULL) MPI_Comm_free(&smaller);
    MPI_Op_free(&op);
    MPI_Finalize();
    return 0;
}
