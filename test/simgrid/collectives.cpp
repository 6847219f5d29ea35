// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// Every collective once by papcoll's schedules and once by the library's, on simulated ranks that arrive one
// after the other; all results are compared. Built by smpicxx: no doctest, whose `exit` is a macro there.
#include <papcoll/collective/all_to_all.hpp>
#include <papcoll/collective/gather.hpp>
#include <papcoll/core.hpp>
#include <papcoll/policy/all_to_all.hpp>
#include <papcoll/policy/linear.hpp>

#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <functional>
#include <vector>

namespace {

int rank = 0;
int ranks = 1;
int failures = 0;

auto value(int owner, std::size_t i) -> int { return 1000 * owner + static_cast<int>(i); }
auto values_of(int owner, std::size_t n) -> std::vector<int> {
    std::vector<int> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = value(owner, i);
    return values;
}
auto sum(std::size_t i) -> int { return 1000 * (ranks * (ranks - 1) / 2) + ranks * static_cast<int>(i); }
auto sums(std::size_t begin, std::size_t n) -> std::vector<int> {
    std::vector<int> all(n);
    for (std::size_t i = 0; i < n; ++i) all[i] = sum(begin + i);
    return all;
}
void check(char const* what, std::size_t n, std::vector<int> const& found, std::vector<int> const& expected) {
    if (found == expected) return;
    std::printf("rank %d of %d: the result of %s of %zu is wrong\n", rank, ranks, what, n);
    ++failures;
}
void arrive() { usleep(static_cast<unsigned>(7 * ((rank + 2) % ranks))); }

template <class Policy>
void spread_from(std::size_t n, int root, Policy const& policy) {
    auto values = rank == root ? values_of(rank, n) : std::vector<int>(n);
    arrive();
    papcoll::broadcast(MPI_COMM_WORLD, values.data(), n, root, policy);
    check("broadcast", n, values, values_of(root, n));
}

template <class Policy>
void reduced(std::size_t n, int root, Policy const& policy) {
    auto const in = values_of(rank, n);
    std::vector<int> out(n, -1);
    arrive();
    papcoll::reduce(MPI_COMM_WORLD, in.data(), n, out.data(), std::plus<>(), root, policy);
    if (rank == root) check("reduce", n, out, sums(0, n));

    // Polled, so that time must pass although nobody blocks.
    out.assign(n, -1);
    arrive();
    auto pending = papcoll::ireduce(MPI_COMM_WORLD, in.data(), n, out.data(), std::plus<>(), root, policy);
    while (!pending.test()) usleep(3);
    if (rank == root) check("ireduce", n, out, sums(0, n));
}

template <class Policy>
void symmetric(std::size_t n, Policy const& policy) {
    auto const in = values_of(rank, n);
    auto const p = static_cast<std::size_t>(ranks);
    std::vector<int> out(n, -1);
    arrive();
    papcoll::all_reduce(MPI_COMM_WORLD, in.data(), n, out.data(), std::plus<>(), policy);
    check("all_reduce", n, out, sums(0, n));

    std::vector<int> all;
    for (int r = 0; r < ranks; ++r) {
        auto const part = values_of(r, n);
        all.insert(all.end(), part.begin(), part.end());
    }
    std::vector<int> gathered(n * p, -1);
    arrive();
    papcoll::all_gather(MPI_COMM_WORLD, in.data(), n, gathered.data(), policy);
    check("all_gather", n, gathered, all);

    // Ranks' parts have 0, n, 2n, 0, … elements.
    std::vector<std::size_t> sizes(p);
    for (std::size_t r = 0; r < p; ++r) sizes[r] = r % 3 * n;
    std::vector<int> uneven;
    std::size_t begin = 0;
    for (int r = 0; r < ranks; ++r) {
        auto const part = values_of(r, sizes[static_cast<std::size_t>(r)]);
        uneven.insert(uneven.end(), part.begin(), part.end());
        if (r < rank) begin += part.size();
    }
    auto const mine = sizes[static_cast<std::size_t>(rank)];
    gathered.assign(uneven.size(), -1);
    arrive();
    papcoll::all_gatherv(MPI_COMM_WORLD, values_of(rank, mine).data(), gathered.data(), sizes, policy);
    check("all_gatherv", n, gathered, uneven);

    auto operand = values_of(rank, uneven.size());
    operand.reserve(1); // SMPI refuses null even where nothing goes
    std::vector<int> part(mine, -1);
    part.reserve(1);
    arrive();
    papcoll::reduce_scatter(MPI_COMM_WORLD, operand.data(), sizes, part.data(), std::plus<>(), policy);
    check("reduce_scatter", n, part, sums(begin, mine));
}

template <class Policy>
void gathered_at(std::size_t n, int root, Policy const& policy) {
    std::vector<int> all;
    for (int r = 0; r < ranks; ++r) {
        auto const part = values_of(r, n);
        all.insert(all.end(), part.begin(), part.end());
    }
    std::vector<int> out(all.size(), -1);
    arrive();
    papcoll::gather(MPI_COMM_WORLD, values_of(rank, n).data(), n, out.data(), root, policy);
    if (rank == root) check("gather", n, out, all);
}

template <class Policy>
void exchanged(std::size_t n, Policy const& policy) {
    auto const p = static_cast<std::size_t>(ranks);
    auto const in = values_of(rank, n * p);
    std::vector<int> expected;
    for (int r = 0; r < ranks; ++r)
        for (std::size_t i = 0; i < n; ++i)
            expected.push_back(value(r, static_cast<std::size_t>(rank) * n + i));
    std::vector<int> out(n * p, -1);
    arrive();
    papcoll::all_to_all(MPI_COMM_WORLD, in.data(), n, out.data(), policy);
    check("all_to_all", n, out, expected);
}

} // namespace

auto main(int argc, char** argv) -> int {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    papcoll::attach(MPI_COMM_WORLD);
    auto const link = papcoll::context_of(MPI_COMM_WORLD)->link();
    if (ranks > 1 && (link.latency > papcoll::ticks{20000} || link.per_byte > 2 || link.per_byte < 0.5)) {
        std::printf("the link was measured by a clock that is not the simulation's\n");
        ++failures;
    }
    for (std::size_t const n : {0, 1, 100, 20000}) {
        for (int const root : {0, ranks - 1}) {
            spread_from(n, root, papcoll::circulant{});
            spread_from(n, root, papcoll::native{});
            reduced(n, root, papcoll::circulant{});
            reduced(n, root, papcoll::native{});
            gathered_at(n, root, papcoll::linear{});
        }
        reduced(n, 0, papcoll::clairvoyant{});
        spread_from(n, 0, papcoll::circulant{.block_bytes = 1000});
        reduced(n, 0, papcoll::circulant{.block_bytes = 1000});
        symmetric(n, papcoll::circulant{});
        symmetric(n, papcoll::native{});
        exchanged(n, papcoll::all_to_all_linear{});
        exchanged(n, papcoll::all_to_all_bruck{});
    }
    int all_failures = 0;
    MPI_Allreduce(&failures, &all_failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) std::printf("%d failures in %.3f simulated ms\n", all_failures, MPI_Wtime() * 1e3);
    MPI_Finalize();
    return all_failures == 0 ? 0 : 1;
}
