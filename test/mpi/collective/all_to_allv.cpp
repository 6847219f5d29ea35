// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// env.single: PAPCOLL_TEST_THREADS=single
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>

#include "../../support/all_to_allv_suite.hpp"

namespace mpi = boost::mpi;

namespace {

template <class Policy>
void promises(mpi::communicator const& comm, Policy const& policy) {
    all_to_allv_suite::promises(comm, comm.rank(), comm.size(), policy);
    all_to_allv_suite::forms(comm, comm.rank(), comm.size(), policy);
}

} // namespace

TEST_CASE("all_to_allv by papcoll's policies") {
    mpi::communicator const world;
    promises(world, papcoll::all_to_all_linear{});
    promises(world, papcoll::all_to_all_pairwise{});
    promises(world, papcoll::all_to_all_linear_sync{});
}

TEST_CASE("all_to_allv by the default policy") {
    mpi::communicator const world;
    promises(world, papcoll::automatic{});
}

TEST_CASE("all_to_allv by the MPI library") {
    mpi::communicator const world;
    promises(world, papcoll::native{});
}

TEST_CASE("all_to_allv on sub-communicators in reversed order") {
    mpi::communicator const world;
    auto const part = world.split(world.rank() % 3 == 1 ? 1 : 0, -world.rank());
    promises(part, papcoll::all_to_all_linear{});
    promises(part, papcoll::automatic{});
}

TEST_CASE("all_to_allv: mistakes and disagreements") {
    mpi::communicator const world;
    auto const part = world.split(0);
    all_to_allv_suite::bad_arguments(part, part.rank(), part.size(), papcoll::all_to_all_linear{});
    all_to_allv_suite::agreed_checks(part, part.rank(), part.size());
    promises(part, papcoll::all_to_all_linear{}); // agreed, too
    promises(part, papcoll::native{});
}
