// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// env.single: PAPCOLL_TEST_THREADS=single
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>

#include "../../support/barrier_suite.hpp"

namespace mpi = boost::mpi;

namespace {

template <class Policy>
void promises(mpi::communicator const& comm, Policy const& policy) {
    barrier_suite::promises(comm, comm.rank(), comm.size(), policy);
}

} // namespace

TEST_CASE("barrier by papcoll's policies") {
    mpi::communicator const world;
    promises(world, papcoll::dissemination{});
    promises(world, papcoll::dissemination{.radix = 4});
}

TEST_CASE("barrier by the default policy") {
    mpi::communicator const world;
    promises(world, papcoll::automatic{});
}

TEST_CASE("barrier by the MPI library") {
    mpi::communicator const world;
    promises(world, papcoll::native{});
}

TEST_CASE("barrier on sub-communicators in reversed order") {
    mpi::communicator const world;
    auto const part = world.split(world.rank() % 3 == 1 ? 1 : 0, -world.rank());
    promises(part, papcoll::dissemination{});
    promises(part, papcoll::automatic{});
}

TEST_CASE("barrier: mistakes and disagreements") {
    mpi::communicator const world;
    auto const part = world.split(0);
    barrier_suite::bad_arguments(part, part.rank(), part.size());
    barrier_suite::agreed_checks(part, part.rank(), part.size());
    promises(part, papcoll::dissemination{}); // agreed, too
    promises(part, papcoll::native{});
}
