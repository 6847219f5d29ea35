// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

namespace papcoll::inline v0 {

/// The MPI library's own algorithm, on the user's communicator: what papcoll's are compared with.
struct native {};

} // namespace papcoll::inline v0
