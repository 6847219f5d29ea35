// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

// All of papcoll, for boost::mpi::communicator, MPI_Comm and threads.

#include <papcoll/core.hpp>
#include <papcoll/executor/packed.hpp>
#include <papcoll/executor/serialized_boost.hpp>
#include <papcoll/transport/boost_mpi.hpp>
