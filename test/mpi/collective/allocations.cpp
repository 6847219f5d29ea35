// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// alone: it counts what operator new is asked for
// ranks: 1 2 3 5 8
// env.single: PAPCOLL_TEST_THREADS=single
//
// A blocking call that was made before allocates nothing, but where several threads may call at once: its
// plan, its buffers and its lists are there.
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/inplace.hpp>
#include <doctest/doctest.h>
#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <new>
#include <thread>
#include <vector>

namespace {

long allocations = 0; // MPI's own go to malloc

auto allocated(void* memory) -> void* {
    ++allocations;
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

} // namespace

// NOLINTBEGIN(misc-new-delete-overloads)
auto operator new(std::size_t n) -> void* { return allocated(std::malloc(n)); }
auto operator new(std::size_t n, std::align_val_t alignment) -> void* {
    auto const a = static_cast<std::size_t>(alignment);
    return allocated(std::aligned_alloc(a, (n + a - 1) / a * a));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
// NOLINTEND(misc-new-delete-overloads)

namespace {

/// How many allocations the last of many equal calls makes.
template <class Call>
auto allocations_of(Call const& call) -> long {
    // How far messages get ahead of each other varies from call to call, and with it what lists hold.
    for (int i = 0; i < 20; ++i) call();
    long const before = allocations;
    call();
    return allocations - before;
}
/// The same where messages came one by one before, and come all together at the first rank at last.
template <class Call>
auto allocations_when_crowded(Call const& call) -> long {
    boost::mpi::communicator const world;
    using namespace std::chrono_literals;
    for (int i = 0; i < 3; ++i) {
        std::this_thread::sleep_for(world.rank() * 2ms);
        call();
        MPI_Barrier(world);
    }
    if (world.rank() == 0) std::this_thread::sleep_for(20ms);
    long const before = allocations;
    call();
    return allocations - before;
}

auto several_threads() -> bool {
    int threads = MPI_THREAD_SINGLE;
    MPI_Query_thread(&threads);
    return threads == MPI_THREAD_MULTIPLE;
}

} // namespace

TEST_CASE("a repeated blocking call allocates nothing") {
    if (several_threads()) return;
    boost::mpi::communicator const world;
    auto const ranks = static_cast<std::size_t>(world.size());
    // A link on which messages of 64 KiB go unasked: what is under way does not depend on timing.
    papcoll::attach(world, {.link = papcoll::link_model{papcoll::ticks(50'000), 0.1}});
    for (std::size_t const n : {std::size_t(1), std::size_t(100), std::size_t(4000)}) {
        CAPTURE(n);
        std::vector<float> in(n * ranks, 1), out(n * ranks);
        auto const op = std::plus<float>();
        CHECK(allocations_of([&] { papcoll::broadcast(world, in.data(), n, 0); }) == 0);
        CHECK(allocations_of([&] { papcoll::reduce(world, in.data(), n, out.data(), op, 0); }) == 0);
        CHECK(allocations_of([&] { papcoll::all_reduce(world, in.data(), n, out.data(), op); }) == 0);
        CHECK(allocations_of([&] { papcoll::gather(world, in.data(), n, out.data(), 0); }) == 0);
        CHECK(allocations_of([&] { papcoll::all_gather(world, in.data(), n, out.data()); }) == 0);
        CHECK(allocations_of([&] { papcoll::all_to_all(world, in.data(), n, out.data()); }) == 0);
        CHECK(allocations_of([&] { papcoll::scatter(world, in.data(), out.data(), n, 0); }) == 0);
        CHECK(allocations_of([&] { papcoll::scan(world, in.data(), n, out.data(), op); }) == 0);
        CHECK(allocations_of([&] { papcoll::exscan(world, in.data(), n, out.data(), op); }) == 0);
        CHECK(allocations_of([&] { papcoll::barrier(world); }) == 0);
        CHECK(allocations_of([&] { papcoll::reduce_scatter_block(world, in.data(), n, out.data(), op); }) ==
              0);
        CHECK(allocations_of([&] {
                  papcoll::all_reduce(world, boost::mpi::inplace(in.data()), n, op, papcoll::circulant{});
              }) == 0);
    }
}

TEST_CASE("a repeated blocking call with uneven sizes allocates nothing") {
    if (several_threads()) return;
    boost::mpi::communicator const world;
    auto const ranks = static_cast<std::size_t>(world.size());
    papcoll::attach(world, {.link = papcoll::link_model{papcoll::ticks(50'000), 0.1}});
    for (std::size_t const n :
         {std::size_t(1), std::size_t(100), std::size_t(4'000), std::size_t(60'000), std::size_t(260'000)}) {
        CAPTURE(n);
        std::vector<std::size_t> sizes(ranks), forward(ranks), backward(ranks);
        std::size_t all = 0;
        for (std::size_t r = 0; r < ranks; ++r) {
            sizes[r] = r % 3 == 2 ? 0 : n / ranks + r;
            forward[r] = all;
            all += sizes[r] + 1;
        }
        for (std::size_t r = 0; r < ranks; ++r) backward[r] = all - forward[r] - sizes[r];
        std::vector<float> in(all + 1, 1), out(all + 1);
        auto const op = std::plus<float>();
        CHECK(allocations_of([&] { papcoll::all_gatherv(world, in.data(), out.data(), sizes); }) == 0);
        CHECK(allocations_of([&] { papcoll::all_gatherv(world, in.data(), out.data(), sizes, forward); }) ==
              0);
        CHECK(allocations_of([&] { papcoll::all_gatherv(world, in.data(), out.data(), sizes, backward); }) ==
              0);
        CHECK(allocations_of([&] { papcoll::reduce_scatter(world, in.data(), sizes, out.data(), op); }) == 0);
        auto const mine = sizes[static_cast<std::size_t>(world.rank())];
        CHECK(allocations_of([&] { papcoll::gatherv(world, in.data(), mine, out.data(), sizes, 0); }) == 0);
        CHECK(allocations_of(
                  [&] { papcoll::scatterv(world, in.data(), sizes, backward, out.data(), mine, 0); }) == 0);
        std::vector<std::size_t> const to(ranks, n / ranks / ranks), from(to);
        CHECK(allocations_of([&] { papcoll::all_to_allv(world, in.data(), to, out.data(), from); }) == 0);
    }
}

TEST_CASE("how many messages come together makes no allocation") {
    if (several_threads()) return;
    boost::mpi::communicator const world;
    auto const ranks = static_cast<std::size_t>(world.size());
    papcoll::attach(world, {.link = papcoll::link_model{papcoll::ticks(50'000), 0.1}, .node_memory = 0});
    for (std::size_t const n : {std::size_t(20), std::size_t(2'000), std::size_t(7'500)}) {
        CAPTURE(n);
        std::vector<float> in(n * ranks, 1), out(n * ranks);
        std::vector<std::size_t> sizes(ranks, n);
        sizes.back() = n / 2;
        auto const mine = sizes[static_cast<std::size_t>(world.rank())];
        CHECK(allocations_when_crowded([&] { papcoll::gather(world, in.data(), n, out.data(), 0); }) == 0);
        CHECK(allocations_when_crowded(
                  [&] { papcoll::gatherv(world, in.data(), mine, out.data(), sizes, 0); }) == 0);
        CHECK(allocations_when_crowded([&] { papcoll::all_to_all(world, in.data(), n, out.data()); }) == 0);
    }
}
