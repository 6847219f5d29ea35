// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// env.single: PAPCOLL_TEST_THREADS=single
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>

#include "../../support/scatter_suite.hpp"

namespace mpi = boost::mpi;

namespace {

template <class Policy>
void promises(mpi::communicator const& comm, Policy const& policy) {
    scatter_suite::promises(comm, comm.rank(), comm.size(), policy);
    scatter_suite::forms(comm, comm.rank(), comm.size(), policy);
    scatter_suite::every_root(comm, comm.rank(), comm.size(), policy);
}

} // namespace

TEST_CASE("scatter by papcoll's policies") {
    mpi::communicator const world;
    promises(world, papcoll::linear{});
    promises(world, papcoll::knomial_tree{});
}

TEST_CASE("scatter by the default policy") {
    mpi::communicator const world;
    promises(world, papcoll::automatic{});
}

TEST_CASE("scatter by the MPI library") {
    mpi::communicator const world;
    promises(world, papcoll::native{});
}

TEST_CASE("scatter on sub-communicators in reversed order") {
    mpi::communicator const world;
    auto const part = world.split(world.rank() % 3 == 1 ? 1 : 0, -world.rank());
    promises(part, papcoll::linear{});
    promises(part, papcoll::automatic{});
}

TEST_CASE("scatter: mistakes and disagreements") {
    mpi::communicator const world;
    auto const part = world.split(0);
    scatter_suite::bad_arguments(part, part.rank(), part.size(), papcoll::linear{});
    scatter_suite::agreed_checks(part, part.rank(), part.size());
    promises(part, papcoll::linear{}); // agreed, too
    promises(part, papcoll::native{});
}
