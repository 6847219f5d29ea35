// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
// env.eager: OMPI_MCA_btl_vader_eager_limit=256 OMPI_MCA_btl_self_eager_limit=256
#include <papcoll/papcoll.hpp>

#include <boost/mpi/communicator.hpp>

#include "../../support/serialized_suite.hpp"

TEST_CASE("values without an MPI datatype") {
    boost::mpi::communicator const world;
    serialized_suite::all(world, world.rank(), world.size());
}
