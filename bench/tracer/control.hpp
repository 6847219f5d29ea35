// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

namespace tracer {

/// Once MPI_Init is done: synchronises clocks, collectively, and opens the file.
void begin();
/// Before MPI_Abort.
void interrupt();
/// Before MPI_Finalize: synchronises clocks again, collectively, and writes the rest.
void end();

} // namespace tracer
