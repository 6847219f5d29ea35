// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

// What one source file of a program includes that defines PAPCOLL_SEPARATE_COMPILATION, and no other:
// papcoll's calls on MPI communicators and its default policy, which do not depend on the types that are
// communicated. All files of the program define the macro; CMake's target papcoll::compiled does both.

#ifndef PAPCOLL_SEPARATE_COMPILATION
#error "papcoll: <papcoll/impl.hpp> is for programs all of whose files define PAPCOLL_SEPARATE_COMPILATION"
#endif

#include <papcoll/collective/impl/run_call.hpp>
#include <papcoll/context/impl/attach.hpp>
#include <papcoll/policy/impl/all_gathers.hpp>
#include <papcoll/policy/impl/all_to_all.hpp>
#include <papcoll/policy/impl/arrival_all_reduce.hpp>
#include <papcoll/policy/impl/automatic.hpp>
#include <papcoll/policy/impl/circulant.hpp>
#include <papcoll/policy/impl/clairvoyant.hpp>
#include <papcoll/policy/impl/dissemination.hpp>
#include <papcoll/policy/impl/gathers.hpp>
#include <papcoll/policy/impl/knomial_tree.hpp>
#include <papcoll/policy/impl/members.hpp>
#include <papcoll/policy/impl/prefix.hpp>
#include <papcoll/policy/impl/scheduled.hpp>
#include <papcoll/policy/impl/shared_memory.hpp>
#include <papcoll/policy/impl/trees.hpp>
#include <papcoll/policy/impl/tuning_table.hpp>
#include <papcoll/policy/impl/two_level.hpp>

#include <mpi.h>

#include <memory>

namespace papcoll::inline v0 {

template struct basic_automatic<detail::default_bitset>;
template struct basic_clairvoyant<detail::default_bitset>;

namespace detail {

template struct whole_parts<ring_scheduler>;
template struct whole_parts<neighbor_exchange_scheduler>;
template struct fixed_tree<bine_tree_scheduler, false>;
template struct fixed_tree<binomial_tree_scheduler>;
template struct fixed_tree<fibonacci_tree_scheduler>;

template void attach_transport(mpi_transport& t, attach_options const& options);

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
