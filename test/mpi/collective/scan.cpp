// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// env.single: PAPCOLL_TEST_THREADS=single
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>

#include "../../support/prefix_suite.hpp"

namespace mpi = boost::mpi;

namespace {

template <class Policy>
void promises(mpi::communicator const& comm, Policy const& policy) {
    prefix_suite::promises(comm, comm.rank(), comm.size(), policy);
    prefix_suite::forms(comm, comm.rank(), comm.size(), policy);
}

} // namespace

TEST_CASE("scan and exscan by papcoll's policies") {
    mpi::communicator const world;
    promises(world, papcoll::prefix_doubling{});
    promises(world, papcoll::prefix_chain{});
}

TEST_CASE("scan and exscan by the default policy") {
    mpi::communicator const world;
    promises(world, papcoll::automatic{});
}

TEST_CASE("scan and exscan by the MPI library") {
    mpi::communicator const world;
    promises(world, papcoll::native{});
}

TEST_CASE("scan and exscan on sub-communicators in reversed order") {
    mpi::communicator const world;
    auto const part = world.split(world.rank() % 3 == 1 ? 1 : 0, -world.rank());
    promises(part, papcoll::prefix_doubling{});
    promises(part, papcoll::automatic{});
}

TEST_CASE("scan and exscan: mistakes and disagreements") {
    mpi::communicator const world;
    auto const part = world.split(0);
    prefix_suite::bad_arguments(part, part.rank(), part.size(), papcoll::prefix_doubling{});
    prefix_suite::agreed_checks(part, part.rank(), part.size(), papcoll::prefix_chain{});
    promises(part, papcoll::prefix_doubling{}); // agreed, too
    promises(part, papcoll::native{});
}
