// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// A C++ program that knows nothing of the tracer. The first argument says what it does.
#include <mpi.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

namespace {

int rank = 0;
int ranks = 1;

/// Rank r comes 40 ms · ((2 r + 1) mod p) late: for odd p each of 0 … p − 1 once.
void come_late() { std::this_thread::sleep_for(std::chrono::milliseconds(40 * ((2 * rank + 1) % ranks))); }

void delays(int times) {
    int sum = 0;
    for (int i = 0; i < times; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        come_late();
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

/// Communicators of all kinds, one call with a size of its own on each.
void communicators() {
    std::vector<MPI_Comm> made;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    made.push_back(comm);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm);
    made.push_back(comm);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, 0, &comm);
    made.push_back(comm);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_idup(made[1], &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    made.push_back(comm);
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group some = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    int const without = 1;
    MPI_Group_excl(all, 1, &without, &some);
    comm = MPI_COMM_NULL;
    if (rank != without) MPI_Comm_create_group(MPI_COMM_WORLD, some, 7, &comm);
    made.push_back(comm);
    MPI_Comm_create(MPI_COMM_WORLD, some, &comm);
    made.push_back(comm);
    int const periodic = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &comm);
    made.push_back(comm);
    MPI_Comm_dup(made[0], &comm);
    MPI_Comm_free(&made[0]);
    made[0] = comm;
    std::vector<char> bytes(64);
    for (std::size_t i = 0; i < made.size(); ++i)
        if (made[i] != MPI_COMM_NULL) MPI_Bcast(bytes.data(), static_cast<int>(i) + 1, MPI_CHAR, 0, made[i]);
    MPI_Bcast(bytes.data(), 60, MPI_CHAR, 0, MPI_COMM_SELF);
    for (auto& each : made)
        if (each != MPI_COMM_NULL) MPI_Comm_free(&each);
    MPI_Group_free(&all);
    MPI_Group_free(&some);
}

/// Two threads on two communicators; ranks use them in different orders at first.
void threads() {
    MPI_Comm comms[2];
    for (auto& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    auto const work = [&](int which) {
        std::this_thread::sleep_for(std::chrono::milliseconds((which + rank) % 2 == 0 ? 0 : 50));
        std::vector<char> bytes(2);
        for (int i = 0; i < 200; ++i) MPI_Bcast(bytes.data(), which + 1, MPI_CHAR, 0, comms[which]);
    };
    std::thread other(work, 1);
    work(0);
    other.join();
    for (auto& comm : comms) MPI_Comm_free(&comm);
}

/// Two groups talk to each other, which is not traced, and inside the groups, which is.
void intercommunicator() {
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm between = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &between);
    MPI_Barrier(between);
    MPI_Comm merged = MPI_COMM_NULL;
    MPI_Intercomm_merge(between, rank % 2, &merged);
    MPI_Barrier(half);
    MPI_Barrier(merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

/// One more process, and a communicator that has it, too, which is not traced.
void spawned(char const* program) {
    MPI_Comm between = MPI_COMM_NULL;
    MPI_Comm all = MPI_COMM_NULL;
    MPI_Comm_get_parent(&between);
    bool const is_child = between != MPI_COMM_NULL;
    if (!is_child) {
        char child[] = "spawned";
        char* arguments[] = {child, nullptr};
        MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                       MPI_ERRCODES_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Intercomm_merge(between, is_child ? 1 : 0, &all);
    MPI_Barrier(all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&between);
}

/// What a null communicator is answered with must come from the MPI library, not from the tracer.
auto null_communicator() -> bool {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int const result = MPI_Barrier(MPI_COMM_NULL);
    int error_class = MPI_SUCCESS;
    MPI_Error_class(result, &error_class);
    return error_class == MPI_ERR_COMM;
}

} // namespace

int main(int argc, char** argv) {
    std::string_view const what = argc > 1 ? argv[1] : "";
    int provided = 0;
    MPI_Init_thread(&argc, &argv, what == "threads" ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    bool good = true;
    if (what == "delays") delays(6);
    if (what == "communicators") communicators();
    if (what == "threads" && provided == MPI_THREAD_MULTIPLE) threads();
    if (what == "intercommunicator") intercommunicator();
    if (what == "spawned") spawned(argv[0]);
    if (what == "null_communicator") good = null_communicator();
    if (what == "killed" || what == "aborted" || what == "exits") {
        delays(3);
        MPI_Barrier(MPI_COMM_WORLD);
        if (what == "exits") std::exit(0);
        if (rank == 1 && what == "killed") std::raise(SIGKILL);
        if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 3);
        delays(50);
    }
    MPI_Finalize();
    return good ? 0 : 1;
}
