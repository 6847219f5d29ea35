// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

// All collectives and policies of papcoll, for boost::mpi::communicator and MPI_Comm. See also core.hpp.

#if __cplusplus < 202002L
#error "papcoll needs C++20: compile with -std=c++20"
#else

#include <papcoll/core.hpp>
#include <papcoll/executor/packed.hpp>
#include <papcoll/executor/serialized_boost.hpp>
#include <papcoll/transport/boost_mpi.hpp>

#include <boost/mpi/inplace.hpp>

#endif
