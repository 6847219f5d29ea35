// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// env.single: PAPCOLL_TEST_THREADS=single
// env.eager: OMPI_MCA_btl_vader_eager_limit=256 OMPI_MCA_btl_self_eager_limit=256
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>

#include "../../support/all_reduce_suite.hpp"
#include "../../support/own_schedulers.hpp"
#include "../../support/random_reduction.hpp"

namespace mpi = boost::mpi;

namespace {

template <class Policy>
void promises(mpi::communicator const& comm, Policy const& policy) {
    all_reduce_suite::promises<double>(comm, comm.rank(), comm.size(), policy);
}

} // namespace

TEST_CASE("all_reduce by circulant") {
    mpi::communicator const world;
    promises(world, papcoll::circulant{});
    promises(world, papcoll::circulant{.block_bytes = 520});
    promises(world, papcoll::dissemination{});
    promises(world, papcoll::dissemination{.radix = 3});
    all_reduce_suite::forms(world, world.rank(), world.size(), papcoll::circulant{});
}

TEST_CASE("all_reduce by schedulers of one's own") {
    mpi::communicator const world;
    using detours = random_reduction;
    promises(world, own_schedulers::to_the_owners{});
    promises(world, papcoll::scheduled<detours>{.algorithm = {5}, .segments = 2});
}

TEST_CASE("all_reduce by the MPI library") {
    mpi::communicator const world;
    promises(world, papcoll::native{});
    all_reduce_suite::forms(world, world.rank(), world.size(), papcoll::native{});
}

TEST_CASE("all_reduce on sub-communicators in reversed order") {
    mpi::communicator const world;
    promises(world.split(world.rank() % 3 == 1 ? 1 : 0, -world.rank()), papcoll::circulant{});
}

TEST_CASE("all_reduce: mistakes and disagreements") {
    mpi::communicator const world;
    auto const part = world.split(0);
    all_reduce_suite::bad_arguments(part, part.rank(), part.size());
    all_reduce_suite::agreed_checks(part, part.rank(), part.size());
}

TEST_CASE("all_reduce of integers, which may go by a census") {
    mpi::communicator const world;
    all_reduce_suite::promises<int>(world, world.rank(), world.size(), papcoll::circulant{});
}

TEST_CASE("all_reduce gives all ranks the same bits") {
    mpi::communicator const world;
    all_reduce_suite::same_bits(world, world.rank(), world.size(), papcoll::circulant{});
    all_reduce_suite::same_bits(world, world.rank(), world.size(), papcoll::circulant{.block_bytes = 100});
    all_reduce_suite::same_bits(world, world.rank(), world.size(), own_schedulers::to_the_owners{});
}

TEST_CASE("a plan under way twice, and after its communicator is freed") {
    mpi::communicator const world;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(world, &comm);
    papcoll::attach(comm);
    for (std::size_t const n : {3u, 5000u}) {
        std::vector<int> const in(n, 1), sums(n, world.size());
        std::vector<int> first(n), second(n), third(n);
        auto plan = papcoll::plan_all_reduce<int>(comm, n, std::plus<>());
        if (n > 1000) MPI_Comm_free(&comm);
        auto one = plan.start(in.data(), first.data());
        auto other = plan.start(in.data(), second.data());
        plan.run(in.data(), third.data());
        other.wait();
        one.wait();
        CHECK(first == sums);
        CHECK(second == sums);
        CHECK(third == sums);
    }
}
