// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <papcoll/collective/mistakes.hpp>
#include <papcoll/policy/collective_kind.hpp>
#include <papcoll/policy/native.hpp>

#include <mpi.h>

#include <concepts>
#include <type_traits>

// What elements, operators and policies of a call must be, said when it is compiled.
namespace papcoll::inline v0 {

class mpi_transport;

} // namespace papcoll::inline v0

namespace papcoll::inline v0::detail {

template <class T>
constexpr void require_transportable() {
    refuse<mistake_of_transported<T>(), T>();
}
/// What the collectives ask of the types of a call; `Op` is the operator's, if there is one.
template <collective_kind Operation, class Policy, class T, class... Op>
constexpr void require_call() {
    refuse<mistake_of_types<Operation, Policy, T, Op...>(), T>();
}
template <class Comm, class Policy>
constexpr void require_communicator() {
    static_assert(!std::same_as<Policy, native> || std::convertible_to<Comm, MPI_Comm> ||
                      std::is_base_of_v<mpi_transport, std::remove_cvref_t<Comm>>,
                  "papcoll: the policy native needs an MPI communicator");
}

} // namespace papcoll::inline v0::detail
