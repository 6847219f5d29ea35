// Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#pragma once

namespace papcoll::inline v0 {

/// The MPI library's own algorithm, on the user's communicator and under its error handler: what papcoll's
/// are compared with. A call that blocks is MPI's own blocking call: papcoll's requests do not progress
/// meanwhile, and the communicator must outlive a request, as MPI's own requests want it. As MPI wants it,
/// too, ranks agree on whether the call is in place. Where an operator throws, this rank throws it, but MPI
/// cannot tell the others, who may get wrong values.
struct native {};

} // namespace papcoll::inline v0
