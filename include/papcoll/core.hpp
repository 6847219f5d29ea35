// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

// All collectives and policies of papcoll, on MPI_Comm: needs an MPI, but not Boost.MPI. The arrival monitor,
// the analysis of schedules and programs, and ranks that are threads have headers of their own:
// papcoll/monitor.hpp, papcoll/analysis.hpp, papcoll/threads.hpp.

#if __cplusplus < 202002L
#error "papcoll needs C++20: compile with -std=c++20"
#else

#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/collective/all_gather.hpp>
#include <papcoll/collective/all_gatherv.hpp>
#include <papcoll/collective/all_reduce.hpp>
#include <papcoll/collective/all_to_all.hpp>
#include <papcoll/collective/all_to_allv.hpp>
#include <papcoll/collective/barrier.hpp>
#include <papcoll/collective/broadcast.hpp>
#include <papcoll/collective/combine_cost.hpp>
#include <papcoll/collective/exscan.hpp>
#include <papcoll/collective/gather.hpp>
#include <papcoll/collective/gatherv.hpp>
#include <papcoll/collective/learned.hpp>
#include <papcoll/collective/open_all_gather.hpp>
#include <papcoll/collective/open_all_gatherv.hpp>
#include <papcoll/collective/open_gather.hpp>
#include <papcoll/collective/plan.hpp>
#include <papcoll/collective/reduce.hpp>
#include <papcoll/collective/reduce_scatter.hpp>
#include <papcoll/collective/reduce_scatter_block.hpp>
#include <papcoll/collective/scan.hpp>
#include <papcoll/collective/scatter.hpp>
#include <papcoll/collective/scatterv.hpp>
#include <papcoll/context/attach.hpp>
#include <papcoll/executor/wait.hpp>
#include <papcoll/operators/operators.hpp>
#include <papcoll/policy/all_to_all.hpp>
#include <papcoll/policy/arrival_all_reduce.hpp>
#include <papcoll/policy/arrival_tree.hpp>
#include <papcoll/policy/automatic.hpp>
#include <papcoll/policy/background_circulant.hpp>
#include <papcoll/policy/background_ring.hpp>
#include <papcoll/policy/bine_tree.hpp>
#include <papcoll/policy/binomial_tree.hpp>
#include <papcoll/policy/circulant.hpp>
#include <papcoll/policy/clairvoyant.hpp>
#include <papcoll/policy/dissemination.hpp>
#include <papcoll/policy/fibonacci_tree.hpp>
#include <papcoll/policy/greedy_tree.hpp>
#include <papcoll/policy/knomial_tree.hpp>
#include <papcoll/policy/linear.hpp>
#include <papcoll/policy/native.hpp>
#include <papcoll/policy/neighbor_exchange.hpp>
#include <papcoll/policy/prefix.hpp>
#include <papcoll/policy/ring.hpp>
#include <papcoll/policy/scheduled.hpp>
#include <papcoll/policy/shared_memory.hpp>
#include <papcoll/policy/sorted_linear.hpp>
#include <papcoll/policy/tuning_table.hpp>
#include <papcoll/policy/two_level.hpp>
#include <papcoll/transport/mpi.hpp>
#include <papcoll/version.hpp>

#endif
