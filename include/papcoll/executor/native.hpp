// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

// The MPI library's own collectives: each as an operation that the progress engine drives, and blocking.

#include <papcoll/executor/native/all_gather.hpp>
#include <papcoll/executor/native/all_gatherv.hpp>
#include <papcoll/executor/native/all_reduce.hpp>
#include <papcoll/executor/native/all_to_all.hpp>
#include <papcoll/executor/native/broadcast.hpp>
#include <papcoll/executor/native/gather.hpp>
#include <papcoll/executor/native/reduce.hpp>
#include <papcoll/executor/native/reduce_scatter.hpp>
