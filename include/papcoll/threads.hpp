// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

// Collectives of ranks that are threads of one process, for tests.

#include <papcoll/collective/impl/run_call.hpp>
#include <papcoll/transport/threads.hpp>
