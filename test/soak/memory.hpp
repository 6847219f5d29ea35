// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

namespace soak {

/// What of this process is in memory (VmRSS) after freed memory has gone back to the system, in MiB; 0 where
/// the system does not tell.
[[nodiscard]] auto resident() -> double;
/// Whether that says what the program uses: a sanitizer keeps freed memory for a while.
[[nodiscard]] auto can_tell_growth() -> bool;

} // namespace soak
