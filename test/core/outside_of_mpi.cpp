// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// Calls before MPI_Init and after MPI_Finalize throw and say what to do.
#include <papcoll/core.hpp>

#include <mpi.h>

#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>

namespace {

int wrong = 0;

void says(std::string const& what, char const* name, std::function<void()> const& call) {
    std::string said = "nothing";
    try {
        call();
    } catch (std::logic_error const& e) {
        said = e.what();
    }
    if (said.find(what) != std::string::npos) return;
    std::printf("%s says: %s\n", name, said.c_str());
    ++wrong;
}

/// `what` is in the message of each call.
void all_say(std::string const& what) {
    auto const world = MPI_COMM_WORLD;
    float value = 1, sum = 0;
    std::plus<float> const op;
    says(what, "attach", [&] { papcoll::attach(world); });
    says(what, "barrier", [&] { papcoll::barrier(world); });
    says(what, "broadcast", [&] { papcoll::broadcast(world, value, 0); });
    says(what, "all_reduce", [&] { papcoll::all_reduce(world, value, sum, op); });
    says(what, "native", [&] { papcoll::all_reduce(world, value, sum, op, papcoll::native{}); });
    says(what, "iall_reduce", [&] { papcoll::iall_reduce(world, value, sum, op).wait(); });
    says(what, "plan_all_reduce", [&] { (void)papcoll::plan_all_reduce<float>(world, 1, op); });
}

} // namespace

int main(int argc, char** argv) {
    all_say("MPI is not initialised");
    MPI_Init(&argc, &argv);
    float sum = 0;
    papcoll::all_reduce(MPI_COMM_WORLD, 1.0F, sum, std::plus<float>());
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (sum != static_cast<float>(ranks)) ++wrong;
    MPI_Finalize();
    all_say("MPI has been finalized");
    return wrong;
}
