// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/transport/transport.hpp>

#include <mpi.h>

#include <concepts>
#include <type_traits>

namespace papcoll::inline v0 {

/// What a collective may be called on: a transport, an MPI_Comm, or anything that converts to one, such as a
/// boost::mpi::communicator.
template <class Comm>
concept communicator = transport<std::remove_cvref_t<Comm>> || std::convertible_to<Comm, MPI_Comm>;

} // namespace papcoll::inline v0
