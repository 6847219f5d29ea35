// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

// papcoll on MPI_Comm and on threads: needs an MPI, but not Boost.MPI's library.

#include <papcoll/analysis/draw.hpp>
#include <papcoll/analysis/metrics.hpp>
#include <papcoll/analysis/verify.hpp>
#include <papcoll/arrival/arrival_source.hpp>
#include <papcoll/arrival/pattern_file.hpp>
#include <papcoll/arrival/patterns.hpp>
#include <papcoll/collective/all_gather.hpp>
#include <papcoll/collective/all_gatherv.hpp>
#include <papcoll/collective/all_reduce.hpp>
#include <papcoll/collective/broadcast.hpp>
#include <papcoll/collective/combine_cost.hpp>
#include <papcoll/collective/plan.hpp>
#include <papcoll/collective/reduce.hpp>
#include <papcoll/collective/reduce_scatter.hpp>
#include <papcoll/context/attach.hpp>
#include <papcoll/operators/operators.hpp>
#include <papcoll/policy/arrival_tree.hpp>
#include <papcoll/policy/binomial_tree.hpp>
#include <papcoll/policy/circulant.hpp>
#include <papcoll/policy/clairvoyant.hpp>
#include <papcoll/policy/fibonacci_tree.hpp>
#include <papcoll/policy/greedy_tree.hpp>
#include <papcoll/policy/native.hpp>
#include <papcoll/policy/scheduled.hpp>
#include <papcoll/scheduler/circulant.hpp>
#include <papcoll/scheduler/circulant_all_gather.hpp>
#include <papcoll/scheduler/clairvoyant.hpp>
#include <papcoll/scheduler/reversed.hpp>
#include <papcoll/scheduler/scheduler.hpp>
#include <papcoll/transport/mpi.hpp>
#include <papcoll/transport/threads.hpp>
