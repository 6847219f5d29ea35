// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// Collectives of papcoll on MPI_COMM_WORLD, with policies of their own and with the default. It knows nothing
// of the tracer.
#include <papcoll/core.hpp>

#include <mpi.h>

#include <chrono>
#include <functional>
#include <thread>
#include <vector>

namespace {

int rank = 0;
int ranks = 1;

/// Rank r comes 40 ms · ((2 r + 1) mod p) late: for odd p each of 0 … p − 1 once.
void come_late() {
    MPI_Barrier(MPI_COMM_WORLD);
    std::this_thread::sleep_for(std::chrono::milliseconds(40 * ((2 * rank + 1) % ranks)));
}

template <class... Policy>
void reduce(std::size_t n, Policy const&... policy) {
    std::vector<float> const in(n, 1);
    std::vector<float> out(n);
    papcoll::reduce(MPI_COMM_WORLD, in.data(), n, out.data(), std::plus<>(), 0, policy...);
}

template <class... Policy>
void all_gather(std::size_t n, Policy const&... policy) {
    std::vector<float> const in(n);
    std::vector<float> out(n * static_cast<std::size_t>(ranks));
    papcoll::all_gather(MPI_COMM_WORLD, in.data(), n, out.data(), policy...);
}

void all_to_all(std::size_t n) {
    auto const all = n * static_cast<std::size_t>(ranks);
    std::vector<float> const in(all);
    std::vector<float> out(all);
    auto under_way =
        papcoll::iall_to_all(MPI_COMM_WORLD, in.data(), n, out.data(), papcoll::all_to_all_pairwise{});
    under_way.wait();
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    papcoll::attach(MPI_COMM_WORLD);
    for (int i = 0; i < 3; ++i) {
        come_late();
        reduce(500, papcoll::circulant{});
        come_late();
        all_gather(25, papcoll::ring{});
        come_late();
        all_to_all(10);
        come_late();
        reduce(600); // by `automatic`
        come_late();
        all_gather(35);
        reduce(700, papcoll::native{}); // the MPI library's: seen by the tracer itself
    }
    MPI_Finalize();
}
