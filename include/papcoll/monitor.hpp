// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

// When the ranks will arrive: the arrival monitor, its predictors and synchronised clocks.

#include <papcoll/monitor/arrival_monitor.hpp>
#include <papcoll/monitor/harmonize.hpp>
