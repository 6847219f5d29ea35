// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

// Schedules and programs, without running them: verified, simulated, drawn and measured, under arrival
// patterns.

#include <papcoll/analysis/cost_model.hpp>
#include <papcoll/analysis/draw.hpp>
#include <papcoll/analysis/metrics.hpp>
#include <papcoll/analysis/simulate.hpp>
#include <papcoll/analysis/verify.hpp>
#include <papcoll/analysis/verify_program.hpp>
#include <papcoll/arrival/pattern_file.hpp>
#include <papcoll/arrival/patterns.hpp>
#include <papcoll/scheduler/circulant.hpp>
#include <papcoll/scheduler/circulant_all_gather.hpp>
#include <papcoll/scheduler/clairvoyant.hpp>
#include <papcoll/scheduler/reversed.hpp>
#include <papcoll/scheduler/scheduler.hpp>
