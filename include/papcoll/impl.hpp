// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

// What one source file of a program includes that defines PAPCOLL_SEPARATE_COMPILATION, and no other:
// papcoll's calls on MPI communicators and its default policy, which do not depend on the types that are
// communicated. All files of the program define the macro; CMake's target papcoll::compiled does both.

#ifndef PAPCOLL_SEPARATE_COMPILATION
#error "papcoll: <papcoll/impl.hpp> is for programs all of whose files define PAPCOLL_SEPARATE_COMPILATION"
#endif

#include <papcoll/collective/impl/run_call.hpp>
#include <papcoll/policy/impl/automatic.hpp>
#include <papcoll/policy/impl/shared_memory.hpp>

#include <mpi.h>

#include <memory>

namespace papcoll::inline v0 {

template struct basic_automatic<detail::default_bitset>;

namespace detail {

template void run_call(MPI_Comm comm, call_description& call, policy_ref policy);
template auto begin_call(MPI_Comm comm, call_description& call, policy_ref policy) -> request;
template auto prepare_call(MPI_Comm comm, call_description const& call, policy_ref policy)
    -> std::unique_ptr<prepared_call>;

template void run_call(mpi_transport& t, call_description& call, policy_ref policy);
template auto begin_call(mpi_transport& t, call_description& call, policy_ref policy) -> request;
template auto prepare_call(mpi_transport& t, call_description const& call, policy_ref policy)
    -> std::unique_ptr<prepared_call>;

} // namespace detail

} // namespace papcoll::inline v0
