// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// env.eager: OMPI_MCA_btl_vader_eager_limit=256 OMPI_MCA_btl_self_eager_limit=256
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/intercommunicator.hpp>
#include <doctest/doctest.h>
#include <mpi.h>

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../support/transport_suite.hpp"

namespace mpi = boost::mpi;

TEST_CASE("MPI passes the transport suite") {
    papcoll::mpi_transport t(MPI_COMM_WORLD);
    transport_suite::run(t);
}

TEST_CASE("a Boost.MPI communicator passes the transport suite") {
    papcoll::boost_mpi_transport t{mpi::communicator()};
    transport_suite::run(t);
}

TEST_CASE("sub-communicators of different sizes work at once") {
    mpi::communicator const world;
    papcoll::boost_mpi_transport t(world.split(world.rank() % 3 == 0 ? 0 : 1, -world.rank()));
    transport_suite::run(t);
}

TEST_CASE("communicators that cannot be used are refused") {
    CHECK_THROWS_AS(papcoll::mpi_transport(MPI_COMM_NULL), std::invalid_argument);
    CHECK_THROWS_AS(papcoll::attach(MPI_COMM_NULL), std::invalid_argument);
    mpi::communicator const world;
    if (world.size() < 2) return;
    int const half = world.rank() % 2;
    mpi::intercommunicator const inter(world.split(half), 0, world, 1 - half);
    CHECK_THROWS_AS(papcoll::mpi_transport{MPI_Comm(inter)}, std::invalid_argument);
}

TEST_CASE("a failing routine is named") {
    papcoll::mpi_transport t(MPI_COMM_WORLD);
    try {
        (void)t.isend(papcoll::channel::data, {}, t.size(), 0);
        FAIL("a send to nobody must throw");
    } catch (papcoll::mpi_error const& e) {
        CHECK(e.error_class() == MPI_ERR_RANK);
        CHECK(std::string(e.what()).find("MPI_Isend") != std::string::npos);
    }
}
