// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#include "calls.hpp"

#include <papcoll/core.hpp>

#include <algorithm>

namespace bench {
namespace {

auto size_of(MPI_Comm comm) -> std::size_t {
    int ranks = 1;
    MPI_Comm_size(comm, &ranks);
    return static_cast<std::size_t>(ranks);
}

} // namespace

buffers::buffers(MPI_Comm c, std::size_t bytes)
    : comm(c)
    , n(std::max<std::size_t>(bytes / sizeof(float), 1))
    , part(std::max<std::size_t>(n / size_of(c), 1))
    , in(std::max(n, part * size_of(c)), 1.0F)
    , out(in.size())
    , sizes(size_of(c), part)
    , counts(size_of(c), static_cast<int>(part)) {}

auto all_collectives() -> std::vector<collective> {
    auto const op = std::plus<float>();
    auto const n = [](std::size_t count) { return static_cast<int>(count); };
    return {
        {"broadcast", [=](buffers& b) { MPI_Bcast(b.in.data(), n(b.n), MPI_FLOAT, 0, b.comm); },
         [](buffers& b) { papcoll::broadcast(b.comm, b.in.data(), b.n, 0); }},
        {"reduce",
         [=](buffers& b) { MPI_Reduce(b.in.data(), b.out.data(), n(b.n), MPI_FLOAT, MPI_SUM, 0, b.comm); },
         [=](buffers& b) { papcoll::reduce(b.comm, b.in.data(), b.n, b.out.data(), op, 0); }},
        {"all_reduce",
         [=](buffers& b) { MPI_Allreduce(b.in.data(), b.out.data(), n(b.n), MPI_FLOAT, MPI_SUM, b.comm); },
         [=](buffers& b) { papcoll::all_reduce(b.comm, b.in.data(), b.n, b.out.data(), op); }},
        {"gather",
         [=](buffers& b) {
             MPI_Gather(b.in.data(), n(b.part), MPI_FLOAT, b.out.data(), n(b.part), MPI_FLOAT, 0, b.comm);
         },
         [](buffers& b) { papcoll::gather(b.comm, b.in.data(), b.part, b.out.data(), 0); }},
        {"scatter",
         [=](buffers& b) {
             MPI_Scatter(b.in.data(), n(b.part), MPI_FLOAT, b.out.data(), n(b.part), MPI_FLOAT, 0, b.comm);
         },
         [](buffers& b) { papcoll::scatter(b.comm, b.in.data(), b.out.data(), b.part, 0); }},
        {"all_gather",
         [=](buffers& b) {
             MPI_Allgather(b.in.data(), n(b.part), MPI_FLOAT, b.out.data(), n(b.part), MPI_FLOAT, b.comm);
         },
         [](buffers& b) { papcoll::all_gather(b.comm, b.in.data(), b.part, b.out.data()); }},
        {"reduce_scatter",
         [](buffers& b) {
             MPI_Reduce_scatter(b.in.data(), b.out.data(), b.counts.data(), MPI_FLOAT, MPI_SUM, b.comm);
         },
         [=](buffers& b) { papcoll::reduce_scatter(b.comm, b.in.data(), b.sizes, b.out.data(), op); }},
        {"all_to_all",
         [=](buffers& b) {
             MPI_Alltoall(b.in.data(), n(b.part), MPI_FLOAT, b.out.data(), n(b.part), MPI_FLOAT, b.comm);
         },
         [](buffers& b) { papcoll::all_to_all(b.comm, b.in.data(), b.part, b.out.data()); }},
        {"scan", [=](buffers& b) { MPI_Scan(b.in.data(), b.out.data(), n(b.n), MPI_FLOAT, MPI_SUM, b.comm); },
         [=](buffers& b) { papcoll::scan(b.comm, b.in.data(), b.n, b.out.data(), op); }},
        {"exscan",
         [=](buffers& b) { MPI_Exscan(b.in.data(), b.out.data(), n(b.n), MPI_FLOAT, MPI_SUM, b.comm); },
         [=](buffers& b) { papcoll::exscan(b.comm, b.in.data(), b.n, b.out.data(), op); }},
        {"barrier", [](buffers& b) { MPI_Barrier(b.comm); }, [](buffers& b) { papcoll::barrier(b.comm); }},
    };
}

auto time_of(std::function<void(buffers&)> const& call, buffers& b, int calls) -> double {
    MPI_Barrier(b.comm);
    MPI_Barrier(b.comm);
    double elapsed = MPI_Wtime();
    for (int i = 0; i < calls; ++i) call(b);
    elapsed = MPI_Wtime() - elapsed;
    double slowest = 0;
    MPI_Allreduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, b.comm);
    return slowest / calls * 1e6;
}

auto agreed(MPI_Comm comm, bool of_rank_0) -> bool {
    int value = of_rank_0 ? 1 : 0;
    MPI_Bcast(&value, 1, MPI_INT, 0, comm);
    return value != 0;
}

} // namespace bench
