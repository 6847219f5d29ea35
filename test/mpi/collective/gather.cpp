// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// env.single: PAPCOLL_TEST_THREADS=single
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>

#include "../../support/gather_suite.hpp"

namespace mpi = boost::mpi;

namespace {

template <class Policy>
void promises(mpi::communicator const& comm, Policy const& policy) {
    gather_suite::promises(comm, comm.rank(), comm.size(), policy);
}

} // namespace

TEST_CASE("gather by linear and sorted_linear") {
    mpi::communicator const world;
    promises(world, papcoll::linear{});
    promises(world, papcoll::sorted_linear{});
    std::vector<papcoll::ticks> falling;
    for (int rank = world.size(); rank > 0; --rank) falling.emplace_back(rank * 1000);
    promises(world, papcoll::sorted_linear{.arrivals = falling, .first_bytes = 8});
    gather_suite::forms(world, world.rank(), world.size(), papcoll::sorted_linear{});
}

TEST_CASE("gather by knomial_tree") {
    mpi::communicator const world;
    promises(world, papcoll::knomial_tree{});
    gather_suite::forms(world, world.rank(), world.size(), papcoll::knomial_tree{});
    gather_suite::every_root(world, world.rank(), world.size(), papcoll::knomial_tree{});
    auto const other = world.split(0);
    gather_suite::on_links(other, world.rank(), world.size(), papcoll::knomial_tree{});
}

TEST_CASE("gather by the MPI library") {
    mpi::communicator const world;
    promises(world, papcoll::native{});
    gather_suite::forms(world, world.rank(), world.size(), papcoll::native{});
}

TEST_CASE("gather on sub-communicators in reversed order") {
    mpi::communicator const world;
    promises(world.split(world.rank() % 3 == 1 ? 1 : 0, -world.rank()), papcoll::sorted_linear{});
}

TEST_CASE("gather: mistakes") {
    mpi::communicator const world;
    gather_suite::bad_arguments(world, world.rank(), world.size());
}

TEST_CASE("gather: mistakes and disagreements") {
    mpi::communicator const world;
    auto const part = world.split(0);
    gather_suite::bad_arguments(part, part.rank(), part.size());
    gather_suite::agreed_checks(part, part.rank(), part.size());
    promises(part, papcoll::sorted_linear{}); // agreed, too
    promises(part, papcoll::native{});
}
